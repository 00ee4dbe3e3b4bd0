"""Inference about a seller of the open market, and a policy that plays on that belief.

`posterior.py` weighs a sample of sellers by all that a table shows, `sample.py` draws that sample,
`likelihood.py` holds the probability of a seller's words and manner, `buyer.py` plays the best
response to the belief.
"""
