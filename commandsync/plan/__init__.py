"""Planning: matching, changes, rules, the guard, hints, and differences that users notice."""
