"""Find known secrets in text and bytes, also if a program has encoded them."""
