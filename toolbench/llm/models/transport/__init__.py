"""Send requests to providers and receive the answers: streaming, cancelling, retries."""
