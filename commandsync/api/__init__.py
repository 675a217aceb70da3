"""The service's interface as data: address, token, operations, answers, retries."""
