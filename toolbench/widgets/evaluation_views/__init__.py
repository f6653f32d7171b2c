"""Cases that are typed in a form; reports of evaluations whose failures open into panels."""
