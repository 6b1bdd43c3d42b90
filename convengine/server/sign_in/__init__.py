"""Sign-in through an identity provider, second factors and sessions, if variables of the installation ask for them.

The library (django-allauth) implements the protocols. This package adds the rules of this product.
"""
