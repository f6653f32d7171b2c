"""What a page runs before anything else, to remember what fired in it: `window.fired`."""

TRIPWIRE = """
    window.fired = [];
    window.tripwire = (...args) => window.fired.push(args.join() || "fired");
    for (const ask of ["alert", "confirm", "prompt"]) window[ask] = window.tripwire;
"""
