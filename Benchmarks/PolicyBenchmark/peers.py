"""Cedar and casbin with the data-transfer rules that the benchmark's policy has: peers.py NANOSECONDS-OF-A-VERDICT

One JSON object a line, as the benchmark prints them; a line with "skipped" where a package is missing. Both decide
whether data may be sent; neither says why, merges policies or knows accounts.
"""
import json
import sys
import time

ACTIONS = ["saveTo", "openFrom", "send", "receive", "copy", "paste", "print", "notify", "backUp", "share"]


def microseconds(turns, work):
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for _ in range(turns):
            work()
        best = min(best, (time.process_time() - start) / turns * 1e6)
    return best


def say(what, figure, verdict):
    print(json.dumps({"what": what, "microseconds": round(figure, 2), "timesOurVerdict": round(figure * 1000 / verdict)}))


def cedar(verdict):
    try:
        import cedarpy
    except ImportError:
        print(json.dumps({"skipped": "Cedar: the package cedarpy is not installed"}))
        return
    rules = "".join(
        f'permit(principal, action == Action::"{action}", resource) when {{ context.peer == "managed" && context.own }};\n'
        f'forbid(principal, action == Action::"{action}", resource) when {{ context.peer == "unmanaged" }};\n'
        for action in ACTIONS
    )
    request = {
        "principal": 'Account::"a"', "action": 'Action::"send"', "resource": 'App::"b"',
        "context": {"peer": "managed", "own": True},
    }
    assert cedarpy.is_authorized(request, rules, []).allowed
    request["context"]["peer"] = "unmanaged"
    assert not cedarpy.is_authorized(request, rules, []).allowed
    say("Cedar from Python, 20 rules, rules parsed each time", microseconds(200, lambda: cedarpy.is_authorized(request, rules, [])), verdict)
    metrics = getattr(cedarpy.is_authorized(request, rules, []), "metrics", None)
    if metrics and "authz_duration_micros" in metrics:
        least = min(cedarpy.is_authorized(request, rules, []).metrics["authz_duration_micros"] for _ in range(200))
        say("Cedar, 20 rules, its own figure for the decision alone", least, verdict)


def casbin_rules(verdict):
    try:
        import casbin
    except ImportError:
        print(json.dumps({"skipped": "casbin: the package casbin is not installed"}))
        return
    model = casbin.Model()
    model.load_model_from_text(
        "[request_definition]\nr = app, account, act\n[policy_definition]\np = app, account, act\n"
        "[policy_effect]\ne = some(where (p.eft == allow))\n"
        "[matchers]\nm = r.app == p.app && r.account == p.account && r.act == p.act\n"
    )
    engine = casbin.Enforcer(model)
    for action in ACTIONS:
        engine.add_policy("managed", "own", action)
        engine.add_policy("exempt", "none", action)
    assert engine.enforce("managed", "own", "send") and not engine.enforce("unmanaged", "own", "send")
    say("casbin from Python, 20 rules", microseconds(200, lambda: engine.enforce("unmanaged", "own", "send")), verdict)


if __name__ == "__main__":
    ours = float(sys.argv[1])
    cedar(ours)
    casbin_rules(ours)
