"""Other services, simulated from their documents as of November 2026.

A `Simulation` is a value: `respond` takes a request and a state, and returns the response and the
next state. It knows no socket, clock or random number, so that a web server, a recording or a test
can carry it. It shares no rule with the client: each rule here is read from the documents again.
"""

NAMES = ("top.gg", "discordbotlist.com", "telegram", "discord")
"""The services that can be simulated. `registry` has them; these names load nothing."""
