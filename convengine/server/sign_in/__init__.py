"""Sign-in by an OpenID provider, second factors and sessions: of installations whose variables ask for them.

The library (django-allauth) does the protocols; here are the rules of this product.
"""
