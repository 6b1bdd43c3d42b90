"""What the apps use of one another, one module each.

`config_admin` and `audit` never import one another: settings name the objects that implement these types, and both
sides are checked against them.
"""
