"""How often an address may enter the leaderboard."""

from sauda.serve.leaderboard.hourly import HOUR, Hourly


def test_an_address_may_a_few_times_an_hour_and_all_together_more_often():
    now = [0.0]
    hourly = Hourly(of_address=2, in_all=3, clock=lambda: now[0])
    assert [hourly.take(address) for address in "aaabbb"] == [True, True, False, True, False, False]
    now[0] = HOUR
    assert [hourly.take(address) for address in "bab"] == [True, True, True]
    assert not hourly.take("c")
