"""The kinds of record, as values: fields, a listing's entries, how services rewrite them."""
