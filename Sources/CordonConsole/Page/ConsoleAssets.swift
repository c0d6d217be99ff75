/// What pages load besides themselves: one style sheet, one script, one picture, all from here.
enum ConsoleAssets {
    static let style = """
        :root { color-scheme: light dark; --text: #1b2330; --soft: #566173; --back: #f5f7fa; --box: #fff; --line: #d3dae4;
          --link: #0b57a8; --main: #0b57a8; --onmain: #fff; --good: #146c38; --goodback: #e3f4e9; --notice: #7a4b00;
          --noticeback: #fff2d8; --bad: #a4161a; --badback: #fdeaea; --bar: #3f7fc4; font: 100%/1.5 system-ui, sans-serif; }
        @media (prefers-color-scheme: dark) { :root { --text: #e7ecf3; --soft: #a9b4c4; --back: #12161d; --box: #1b212b;
          --line: #39434f; --link: #8cbcf5; --main: #8cbcf5; --onmain: #0d1420; --good: #8fdcaa; --goodback: #173324;
          --notice: #f3c877; --noticeback: #3a2c10; --bad: #ff9d9d; --badback: #421a1c; --bar: #6aa5e6; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text); display: grid; min-height: 100vh;
          grid-template: "head head" auto "nav main" 1fr / 13rem minmax(0, 1fr); }
        a { color: var(--link); }
        a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible,
        summary:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
        main:focus-visible { outline: none; }
        .skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--box); padding: .5rem; z-index: 1; }
        header { grid-area: head; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding: .6rem 1.25rem;
          background: var(--box); border-bottom: 1px solid var(--line); }
        .brand { font-weight: 700; font-size: 1.15rem; text-decoration: none; color: var(--text); margin-right: auto; }
        .who small { color: var(--soft); }
        nav { grid-area: nav; padding: 1rem 0 1rem .75rem; }
        nav ul { list-style: none; margin: 0; padding: 0; }
        nav a { display: block; padding: .4rem .75rem; border-radius: .4rem; text-decoration: none; color: var(--text); }
        nav a:hover { background: var(--box); } nav a[aria-current] { background: var(--box); font-weight: 600; box-shadow: inset 3px 0 var(--main); }
        .tabs { padding: 0; margin: 0 0 1rem; border-bottom: 1px solid var(--line); } .tabs ul { display: flex; flex-wrap: wrap; } .tabs a { color: var(--link); }
        .tabs a[aria-current] { color: var(--text); box-shadow: inset 0 -3px var(--main); border-radius: .4rem .4rem 0 0; }
        main { grid-area: main; padding: 1.25rem clamp(.9rem, 3vw, 2.25rem) 4rem; max-width: 76rem; }
        h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
        p { overflow-wrap: anywhere; } .caption { font-weight: 600; margin: 1rem 0 .25rem; } h2 { font-size: 1.15rem; margin: 0 0 .5rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
        .lead, .help, .empty, .above { color: var(--soft); margin: 0 0 1rem; max-width: 46rem; } .above { margin: 0; }
        .help, .about p { font-size: .9rem; margin: .15rem 0; }
        .card, .form, figure, .scroll { background: var(--box); border: 1px solid var(--line); border-radius: .5rem; }
        .card { padding: 1rem 1.25rem; margin: 1.25rem 0; } .card .form, .card figure { border: 0; padding: 0; }
        .form { padding: 1rem 1.25rem; margin: 1rem 0; max-width: 52rem; }
        figure { margin: 1rem 0; padding: .75rem 1rem; } figcaption, caption { font-weight: 600; text-align: left; padding: .5rem 0; }
        .bare { margin: 1rem 0; } svg { display: block; max-width: 34rem; overflow: visible; } svg text { fill: var(--text); font-size: 13px; } rect { fill: var(--bar); }
        rect.good { fill: var(--good); } rect.notice { fill: var(--notice); } rect.bad { fill: var(--bad); }
        .scroll { overflow-x: auto; margin: 1rem 0; padding: 0 .75rem; } .card .scroll { border: 0; padding: 0; }
        table { border-collapse: collapse; width: 100%; } caption { padding: .6rem .5rem; }
        th, td { text-align: left; padding: .5rem; border-top: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; min-width: 8rem; }
        th { overflow-wrap: normal; } td time, td .badge { white-space: nowrap; } td code { overflow-wrap: break-word; }
        th { color: var(--soft); font-weight: 600; font-size: .9rem; } td form { margin: 0; }
        code, pre { font: .88em ui-monospace, monospace; overflow-wrap: anywhere; } pre { overflow: auto; padding: .75rem; background: var(--back); border-radius: .4rem; white-space: pre-wrap; }
        dl { margin: .5rem 0; display: grid; grid-template-columns: minmax(9rem, max-content) minmax(0, 1fr); }
        dt, dd { margin: 0; padding: .35rem 1.5rem .35rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; } dt { color: var(--soft); max-width: 22rem; }
        .badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: .88rem; border: 1px solid var(--line); }
        .good { color: var(--good); } .badge.good, .note.good { background: var(--goodback); }
        .notice { color: var(--notice); } .badge.notice, .note.notice { background: var(--noticeback); }
        .bad { color: var(--bad); } .badge.bad, .note.bad { background: var(--badback); }
        .one { display: inline-block; margin-right: .35rem; }
        .note { border: 1px solid var(--line); border-left: .35rem solid currentcolor; border-radius: .4rem; padding: .6rem 1rem; margin: 1rem 0; background: var(--box); max-width: 52rem; }
        .note p { margin: 0; color: var(--text); } .note .item { padding-left: 1rem; }
        .tiles { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(11rem, 44%), 1fr)); gap: .75rem; }
        .tiles a { display: block; height: 100%; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--box); text-decoration: none; color: var(--text); }
        .tiles strong { display: block; font-size: 1.8rem; line-height: 1.2; } .tiles .bad strong { color: var(--bad); } .tiles .notice strong { color: var(--notice); } .tiles .good strong { color: var(--good); }
        .form > .links:last-child { margin-bottom: .25rem; } .field { margin: 0 0 1rem; } .field label, legend { font-weight: 600; } .field fieldset { border: 0; padding: 0; margin: 0; }
        .locked { border: 0; margin: 0; padding: 0; } .form > fieldset:not(.locked) { border: 1px solid var(--line); border-radius: .4rem; margin: 0 0 1rem; padding: .5rem 1rem; } legend { padding: 0 .25rem; }
        input, select, textarea, button { font: inherit; color: inherit; } input:not([type]), select, textarea { display: block; width: 100%; max-width: 34rem; padding: .45rem .6rem; border: 1px solid var(--soft); border-radius: .35rem; background: var(--back); }
        fieldset { min-width: 0; } label, legend, summary, caption, h2, .links a, .who { overflow-wrap: anywhere; }
        .stale { flex-basis: 100%; margin: 0; color: var(--notice); font-weight: 600; }
        .beside { margin-top: .35rem; } .check { display: block; font-weight: 400; padding: .15rem 0; } label.check { font-weight: 500; }
        .option .help { margin-left: 1.6rem; } .idle label, .idle legend { color: var(--soft); } .error { color: var(--bad); font-weight: 600; } .remark { color: var(--notice); }
        .wrong input, .wrong select, .wrong textarea { border-color: var(--bad); border-width: 2px; }
        button, a.main { display: inline-block; padding: .45rem .95rem; border: 1px solid var(--main); border-radius: .4rem; background: var(--main); color: var(--onmain); text-decoration: none; cursor: pointer; }
        header button, td button, button.quiet { background: transparent; color: var(--link); border-color: var(--line); padding: .2rem .7rem; } button.grave { background: var(--bad); border-color: var(--bad); color: var(--box); }
        header form { margin: 0; } .links { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: center; } details { margin: 1rem 0; } summary { cursor: pointer; }
        @media (max-width: 52rem) { body { display: block; } nav { padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
          nav ul { display: flex; flex-wrap: wrap; } nav a { padding: .35rem .55rem; } nav a[aria-current] { box-shadow: inset 0 -3px var(--main); }
          dl { grid-template-columns: minmax(0, 1fr); } dd { border: 0; padding-top: 0; } thead { position: absolute; left: -99rem; } tr, td { display: block; } tr { border-top: 2px solid var(--line); padding: .4rem 0; } td { border: 0; padding: .2rem .25rem; min-width: 0; }
          td .badge { white-space: normal; } td code { overflow-wrap: anywhere; }
          td::before { content: attr(data-column); display: block; color: var(--soft); font-size: .85rem; } }
        @media (prefers-reduced-motion: no-preference) { a, button { transition: background .12s; } }

        """

    /// Shows what the service sends for a page that changes by itself. Nothing is replaced while a person types or holds
    /// a button down, since a click on what was replaced meanwhile would be lost; it is shown as soon as they let go. What is filled
    /// in and not sent yet is not replaced at all. A page that is not seen holds no connection, and one that nothing comes for any more,
    /// since the session has ended or something between answers in the service's place, says so.
    static let script = """
        "use strict";
        const place = document.querySelector("main[data-live]");
        if (place) {
          let source = null, waiting = null, pressed = false;
          const isFilledIn = (one) => one.options
            ? one.selectedIndex !== Math.max(0, [...one.options].findIndex((option) => option.defaultSelected))
            : one.checked !== one.defaultChecked || one.value !== one.defaultValue;
          const show = () => {
            const active = document.activeElement;
            const types = active && active !== place && place.contains(active) && active.matches("input, select, textarea");
            if (waiting === null || pressed || types) return;
            if ([...place.querySelectorAll("input, select, textarea")].some(isFilledIn)) return;
            const open = [...place.querySelectorAll("details")].map((one) => one.open);
            const next = document.createElement("template");
            next.innerHTML = waiting;
            waiting = null;
            next.content.querySelectorAll("details").forEach((one, index) => { one.open = open[index] === true; });
            if (next.innerHTML.trim() === place.innerHTML.trim()) return;
            const stops = "a, button, summary, [tabindex]";
            const index = [...place.querySelectorAll(stops)].indexOf(active);
            place.replaceChildren(next.content);
            if (index >= 0) place.querySelectorAll(stops)[index]?.focus({ preventScroll: true });
          };
          const release = () => { pressed = false; setTimeout(show); };
          addEventListener("pointerdown", () => { pressed = true; });
          for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, release);
          place.addEventListener("focusout", () => setTimeout(show));
          const stale = document.querySelector(".stale");
          const listen = () => {
            source?.close();
            if (document.hidden) return;
            const own = source = new EventSource(place.dataset.live);
            own.addEventListener("page", (event) => { stale.hidden = true; waiting = JSON.parse(event.data); show(); });
            own.addEventListener("end", () => { own.close(); stale.hidden = false; });
            own.addEventListener("error", () => { if (own.readyState === EventSource.CLOSED) stale.hidden = false; });
          };
          document.addEventListener("visibilitychange", listen);
          listen();
        }

        """

    static let icon = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57a8"/><path d="M16 6l9 3.5v6c0 5.500-3.700 9-9 11-5.300-2-9-5.500-9-11v-6z" fill="none" stroke="#fff" stroke-width="2.500"/></svg>
        """
}
