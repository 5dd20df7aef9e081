"""Mutation testing: would a test notice if this line of a verifier said something else?"""
