// What pages do beside being read: they follow the engine, filter lists while one types, and let the picture be made larger. Without
// this script everything is there but that.
"use strict";

(() => {
	const byId = (id) => document.getElementById(id);
	const all = (selector, within = document) => [...within.querySelectorAll(selector)];

	// States, the most alarming first, each with its sign; those of which one is told at once.
	const signs = {
		stuck: "✖", "backing-off": "↻", paused: "‖", stopped: "■", running: "▶", registered: "○", finished: "✓", waiting: "·",
	};
	const states = Object.keys(signs);
	const alarming = new Set(["stuck", "backing-off", "paused", "stopped"]);

	// setText changes a text only if it is another one, so that nothing is laid out, or read out, for nothing.
	const setText = (element, text) => {
		if (element && element.textContent !== text) {
			element.textContent = text;
		}
	};

	// printable is a text of which everything can be seen, as the server has it.
	const printable = (text) =>
		text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);

	const rateText = (perSecond) => (perSecond > 0 ? (perSecond < 10 ? perSecond.toFixed(1) : perSecond.toFixed(0)) : "");

	// morph makes an element like another one, and keeps what is the same: what is selected, focused, scrolled or unfolded stays so.
	function morph(from, to) {
		for (const { name, value } of [...to.attributes]) {
			if (name !== "open" && from.getAttribute(name) !== value) {
				from.setAttribute(name, value);
			}
		}

		for (const { name } of [...from.attributes]) {
			if (name !== "open" && !to.hasAttribute(name)) {
				from.removeAttribute(name);
			}
		}

		morphChildren(from, to);
	}

	function morphChildren(from, to) {
		const wanted = [...to.childNodes];

		wanted.forEach((next, i) => {
			const now = from.childNodes[i];

			if (!now) {
				from.append(document.importNode(next, true));
			} else if (now.nodeType !== next.nodeType || now.nodeName !== next.nodeName) {
				now.replaceWith(document.importNode(next, true));
			} else if (now.nodeType === Node.ELEMENT_NODE) {
				morph(now, next);
			} else if (now.data !== next.data) {
				now.data = next.data;
			}
		});

		while (from.childNodes.length > wanted.length) {
			from.lastChild.remove();
		}
	}

	async function load(address) {
		const answer = await fetch(address, { cache: "no-store" });

		return new DOMParser().parseFromString(await answer.text(), "text/html");
	}

	// everySecond runs what may run that often, one at a time, and once more if it was wanted meanwhile.
	function everySecond(run) {
		let wanted = false;
		let busy = false;

		return async function want() {
			wanted = true;

			if (busy) {
				return;
			}

			busy = true;

			while (wanted) {
				wanted = false;

				try {
					await run();
				} catch {
					// The connection tells of it.
				}

				await new Promise((resume) => setTimeout(resume, 1000));
			}

			busy = false;
		};
	}

	// Times that are still to come are counted down. The clock is that of the engine.
	const ahead = Date.now() - Date.parse(document.documentElement.dataset.now);

	function countDown() {
		for (const time of all("time[data-until]")) {
			const seconds = Math.ceil((Date.parse(time.dateTime) - (Date.now() - ahead)) / 1000);

			setText(time, seconds > 0 ? `in ${seconds} s` : "now");
		}
	}

	if (document.querySelector("time[data-until]") || document.body.dataset.watch) {
		countDown();
		setInterval(countDown, 1000);
	}

	// Lists are filtered by what is typed.
	for (const input of all("input[data-filter]")) {
		input.hidden = false;
		input.form.addEventListener("submit", (event) => event.preventDefault());
		input.addEventListener("input", () => {
			const text = input.value.toLowerCase();

			for (const row of all(input.dataset.filter)) {
				row.hidden = !row.dataset.name.toLowerCase().includes(text);
			}
		});
	}

	document.addEventListener("keydown", (event) => {
		const search = document.querySelector("input[type=search]:not([hidden])");
		const typing = event.target instanceof Element && event.target.closest("input, textarea, select");

		if (event.key === "/" && search && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			search.focus();
			search.select();
		}
	});

	// The picture, with what is known of its nodes and edges.
	const picture = byId("picture");
	let nodes = new Map(); // by name of the controller, or of the group
	let edges = [];
	let scale = -1; // 0 is that the picture fits, and less that it fits as far as it can be read

	function readPicture() {
		nodes = new Map();
		edges = [];

		const svg = picture && picture.querySelector("svg");
		if (!svg) {
			return;
		}

		svg.dataset.width = svg.dataset.width || svg.getAttribute("width");
		svg.dataset.height = svg.dataset.height || svg.getAttribute("height");

		const byNode = new Map();

		for (const element of all(".node", svg)) {
			byNode.set(element.dataset.node, element.dataset);

			if (element.dataset.controller !== undefined) {
				nodes.set(element.dataset.controller, {
					element, label: element.getAttribute("aria-label") || "", title: element.querySelector("title"), shown: "",
				});
			}
		}

		for (const element of all(".edge", svg)) {
			const from = byNode.get(element.dataset.from);
			const to = byNode.get(element.dataset.to);

			if (from && to) {
				const [controller, resources] = from.controller === undefined ? [to.controller, from] : [from.controller, to];

				edges.push({ element, controller, namespace: resources.namespace, type: resources.type, kind: element.dataset.kind, parts: new Map() });
			}
		}

		zoom();
	}

	// zoom draws the picture as large as is wanted. What was in the middle stays there.
	function zoom(wanted = scale) {
		const svg = picture.querySelector("svg");
		if (!svg) {
			return;
		}

		const [width, height] = [Number(svg.dataset.width), Number(svg.dataset.height)];
		const x = (picture.scrollLeft + picture.clientWidth / 2) / picture.scrollWidth;
		const y = (picture.scrollTop + picture.clientHeight / 2) / picture.scrollHeight;
		const fit = Math.min(1, (picture.clientWidth - 2) / width, (picture.clientHeight - 2) / height);

		scale = wanted > 0 ? Math.max(0.1, Math.min(4, wanted)) : wanted;

		const drawn = scale > 0 ? scale : Math.max(scale < 0 ? 0.45 : 0.1, fit);

		svg.setAttribute("width", Math.round(width * drawn));
		svg.setAttribute("height", Math.round(height * drawn));
		picture.scrollLeft = x * picture.scrollWidth - picture.clientWidth / 2;
		picture.scrollTop = y * picture.scrollHeight - picture.clientHeight / 2;
	}

	for (const bar of all(".zoom")) {
		bar.hidden = false;
		bar.addEventListener("click", (event) => {
			const svg = picture.querySelector("svg");
			const wanted = event.target.dataset.zoom;

			if (svg && wanted) {
				const now = Number(svg.getAttribute("width")) / Number(svg.dataset.width);

				zoom({ in: now * 1.25, out: now / 1.25, one: 1, fit: 0 }[wanted]);
			}
		});
	}

	// besideShape adds a text to a node, at a corner of its outline.
	function besideShape(node, kind, dx, dy, text) {
		let element = node.querySelector(`text.${kind}`);

		if (!element) {
			if (!text) {
				return;
			}

			const shape = node.querySelector(".shape");

			element = document.createElementNS("http://www.w3.org/2000/svg", "text");
			element.setAttribute("class", kind);
			element.setAttribute("aria-hidden", "true");
			element.setAttribute("x", Number(shape.getAttribute("x")) + dx * Number(shape.getAttribute("width")));
			element.setAttribute("y", Number(shape.getAttribute("y")) + dy);
			element.setAttribute("text-anchor", dx ? "end" : "start");
			node.append(element);
		}

		setText(element, text);
	}

	// paint shows what a controller, or the worst of a group, is doing.
	function paint(name, state, rate) {
		const node = nodes.get(name);
		const shown = `${state} ${rateText(rate)}`;

		if (!node || node.shown === shown) {
			return;
		}

		const shape = node.element.querySelector(".shape");

		node.shown = shown;
		node.element.classList.remove(...states);
		node.element.classList.add(state);
		node.element.classList.toggle("active", rate > 0 && !alarming.has(state));
		besideShape(node.element, "sign", 0, 4, state === "waiting" ? "" : signs[state]);
		besideShape(node.element, "rate", 1, Number(shape.getAttribute("height")) + 12, rate > 0 ? `${rateText(rate)}/s` : "");

		const label = `${node.label}: ${state}`;

		node.element.setAttribute("aria-label", label);
		setText(node.title, rate > 0 ? `${label}, ${rateText(rate)} passes/s` : label);
	}

	// paintEdges shows how often something goes over the edges that are meant. What they have comes of several parts.
	function paintEdges(meant, part, rate) {
		for (const edge of edges.filter(meant)) {
			edge.parts.set(part, rate);
			paintEdge(edge, [...edge.parts.values()].reduce((sum, r) => sum + r, 0));
		}
	}

	function paintEdge(edge, rate) {
		edge.element.classList.toggle("active", rate > 0);

		if (!edge.text && rate > 0) {
			const line = edge.element.querySelector(".line");
			const middle = line.getPointAtLength(line.getTotalLength() * 0.75);

			edge.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
			edge.text.setAttribute("class", "rate");
			edge.text.setAttribute("x", middle.x - 6);
			edge.text.setAttribute("y", middle.y + 4);
			edge.text.setAttribute("text-anchor", "end");
			edge.text.setAttribute("aria-hidden", "true");
			edge.element.append(edge.text);
		}

		setText(edge.text, rate > 0 ? `${rateText(rate)}/s` : "");
	}

	// The list of controllers.
	const list = byId("controllers");
	const search = byId("search");
	const known = new Map(); // by name: what was told last
	const rates = new Map(); // by name: passes in a second
	const groups = new Map(); // by name of the group: names
	let rows = new Map(); // by name

	function readList() {
		rows = new Map();
		groups.clear();

		for (const element of all("tr", list)) {
			const name = JSON.parse(element.dataset.key);

			rows.set(name, { element, name, lower: name.toLowerCase(), group: element.dataset.group && JSON.parse(element.dataset.group) });

			if (element.dataset.group) {
				const group = JSON.parse(element.dataset.group);

				groups.set(group, [...(groups.get(group) || []), name]);
			}
		}
	}

	function showRow(c) {
		const row = c && rows.get(c.name);
		if (!row) {
			return;
		}

		const cells = row.element.cells;

		if (row.element.className !== c.state) {
			row.element.className = c.state;
			cells[1].firstChild.className = `state ${c.state}`;
			setText(cells[1].querySelector("[aria-hidden]"), signs[c.state]);
			setText(cells[1].querySelector("b"), c.state);
		}

		setText(cells[0].querySelector(".problem"), printable(c.problem || ""));
		setText(cells[2], rateText(rates.get(c.name) || 0));
		[c.passes, c.ready, c.delayed].forEach((n, i) => setText(cells[3 + i], n ? String(n) : ""));
	}

	// nodeOf is the name of the node that stands for a controller.
	function nodeOf(name) {
		const row = rows.get(name);

		return row && row.group !== undefined ? row.group : name;
	}

	function showNode(name) {
		const node = nodeOf(name);
		const told = (groups.get(node) || [name]).map((member) => known.get(member)).filter(Boolean);
		const worst = Math.min(...told.map((c) => states.indexOf(c.state)));

		if (told.length > 0) {
			paint(node, states[worst], told.reduce((sum, c) => sum + (rates.get(c.name) || 0), 0));
		}
	}

	function showCounts() {
		const count = new Map();

		for (const c of known.values()) {
			count.set(c.state, (count.get(c.state) || 0) + 1);
		}

		for (const element of all("#states [data-state]")) {
			const n = count.get(element.dataset.state) || 0;

			element.hidden = n === 0 && element.dataset.state !== only;
			setText(element.querySelector(".number"), String(n));
		}
	}

	// only is the state whose controllers are shown alone, or empty.
	const stateButtons = all("#states button");
	let only = (stateButtons.find((button) => button.ariaPressed === "true") || { dataset: { state: "" } }).dataset.state;

	function showOnly(state) {
		only = state;
		stateButtons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.state === only)));
		showCounts();
		find();
	}

	// partial tells that the list does not have every controller, so that a search needs the server.
	const partial = () => search.form.dataset.partial === "true";

	function filter() {
		const text = search.value.toLowerCase();
		const found = new Set();
		let n = 0;

		for (const row of rows.values()) {
			const has = row.lower.includes(text) && (only === "" || row.element.className === only);

			if (row.element.hidden === has) {
				row.element.hidden = !has;
			}

			if (has) {
				n++;
				found.add(row.group === undefined ? row.name : row.group);
			}
		}

		const looking = text !== "" || only !== "";

		byId("none").hidden = n > 0;
		setText(byId("none"), looking ? "No controller is like that." : "No controller is registered.");
		const count = Math.max(known.size, rows.size); // a page that was found has some of the rows

		setText(byId("count"), n < count ? `${n} of ${count}` : String(count));

		const svg = picture.querySelector("svg");
		if (!svg) {
			return;
		}

		svg.classList.toggle("searching", looking);

		for (const [name, node] of nodes) {
			node.element.classList.toggle("found", looking && found.has(name));
		}

		for (const element of all(".node.resources", svg)) {
			element.classList.toggle("found", text !== "" && element.dataset.type.toLowerCase().includes(text));
		}

		const first = svg.querySelector(".found");
		if (text && first) {
			first.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
		}
	}

	// News are read out in one sentence at a time, and only what one would want to be told.
	const news = [];

	const announce = everySecond(async () => {
		const told = news.splice(0);
		const more = told.length > 3 ? `, and ${told.length - 3} more` : "";

		setText(byId("announce"), told.slice(0, 3).join(", ") + more);
		await new Promise((resume) => setTimeout(resume, 2000));
	});

	function tell(before, c) {
		if (before && before.state !== c.state && (alarming.has(c.state) || alarming.has(before.state))) {
			news.push(`${printable(c.name)}: ${c.state}`);
			announce();
		}
	}

	// again loads the first page anew, where more has changed than what its controllers do.
	const again = everySecond(async () => {
		const page = await load(partial() ? `./?${new URLSearchParams({ q: search.value, state: only })}` : "./");

		morphChildren(list, page.getElementById("controllers"));
		morphChildren(byId("problems"), page.getElementById("problems"));
		search.form.dataset.partial = page.getElementById("search").form.dataset.partial;
		readList();
		known.forEach(showRow);
		filter();
	});

	// find shows what is searched for, from the rows that are here or, if there are more, from the server.
	const find = () => (partial() ? again() : filter());

	const drawn = everySecond(async () => {
		const page = await load("picture");
		const next = page.getElementById("drawn");

		if (next.dataset.ready === "true" || !picture.querySelector("svg")) {
			picture.replaceChildren(...[...next.childNodes].map((node) => document.importNode(node, true)));
			readPicture();
			known.forEach((_, name) => showNode(name));
			filter();
		}

		picture.dataset.ready = next.dataset.ready;

		if (next.dataset.ready === "false") {
			drawn();
		}
	});

	if (list) {
		readList();
		readPicture();
		filter();

		search.form.addEventListener("submit", (event) => event.preventDefault());
		search.addEventListener("input", find);

		for (const button of stateButtons) {
			button.addEventListener("click", (event) => {
				event.preventDefault();
				showOnly(button.dataset.state === only ? "" : button.dataset.state);
			});
		}

		search.addEventListener("keydown", (event) => {
			if (event.key === "Escape" && search.value) {
				search.value = "";
				search.dispatchEvent(new Event("input"));
			}
		});
		addEventListener("resize", () => scale <= 0 && zoom());

		if (picture.dataset.ready === "false") {
			drawn();
		}
	}

	// Other pages are loaded anew when something has become of the controller they are about, or of any.
	const refresh = everySecond(async () => {
		const page = await load(location.href);
		const next = all(".live", page);

		all(".live").forEach((element, i) => next[i] && morph(element, next[i]));
		countDown();
	});

	const watched = document.body.dataset.watch && JSON.parse(document.body.dataset.watch);

	// heard takes in what has become of controllers.
	function heard(controllers) {
		let moved = false;

		for (const c of controllers) {
			const before = known.get(c.name);

			known.set(c.name, c);
			moved ||= before !== undefined && before.state !== c.state;

			if (list) {
				tell(before, c);
				showRow(c);
			} else if (before && (watched === c.name || watched === undefined) && (before.passes !== c.passes || before.state !== c.state)) {
				refresh();
			}
		}

		if (list && moved && only !== "") {
			find();
		}
	}

	// ratesHeard takes in how often something happens.
	function ratesHeard(change) {
		for (const { controller, perSecond } of change.passes || []) {
			rates.set(controller, perSecond);
			showRow(known.get(controller));
		}

		for (const { controller, input, perSecond } of change.wakeups || []) {
			paintEdges((e) => e.controller === nodeOf(controller) && e.namespace === input.namespace && e.type === input.type &&
				e.kind === `input-${input.kind}`, `${controller} ${input.id || ""}`, perSecond);
		}

		for (const { controller, type, perSecond } of change.writes || []) {
			paintEdges((e) => e.controller === nodeOf(controller) && e.type === type && e.kind.startsWith("output-"), controller, perSecond);
		}
	}

	const mostProblems = 50; // as many as the server tells

	function problemsHeard(problems) {
		const page = document.createElement("div");

		const line = (name, className, text) => {
			const element = document.createElement(name);

			element.className = className;
			element.textContent = text;

			return element;
		};

		if (problems.length === 0) {
			page.append(line("p", "well", "No problems."));
		} else {
			page.append(line("ul", "problems", ""));
			page.lastChild.append(...problems.slice(0, mostProblems).map((text) => line("li", "", printable(text))));

			if (problems.length > mostProblems) {
				page.lastChild.append(line("li", "", `and ${problems.length - mostProblems} more`));
			}
		}

		morphChildren(byId("problems"), page);
	}

	// The revision of the declarations that the page shows.
	let revision;

	function overviewHeard(overview) {
		const names = new Set(overview.controllers.map((c) => c.name));
		const gone = [...known.keys(), ...rows.keys()].some((name) => !names.has(name));
		const added = !partial() && overview.controllers.some((c) => !rows.has(c.name));
		const redeclared = revision !== undefined && revision !== overview.revision;

		known.clear();
		rates.clear();
		revision = overview.revision;
		heard(overview.controllers);

		if (gone || added || redeclared) {
			again();
			drawn();
		} else {
			find(); // states may have changed while nobody told of it
		}

		show(overview.controllers.map((c) => c.name));
		problemsHeard(overview.problems);
	}

	function changeHeard(change) {
		const changed = change.controllers || [];
		const added = changed.some((c) => !known.has(c.name));

		for (const name of change.gone || []) {
			known.delete(name);
		}

		heard(changed);
		ratesHeard(change);

		if (change.revision !== revision || added || change.gone) {
			again();
			drawn();
		}

		show([...changed.map((c) => c.name), ...(change.passes || []).map((rate) => rate.controller)]);

		if (change.problems) {
			problemsHeard(change.problems);
		}

		revision = change.revision;
	}

	function show(names) {
		new Set(names).forEach(showNode);
		showCounts();
	}

	const connection = byId("connection");

	function connected(how) {
		if (connection.dataset.connection !== how) {
			connection.dataset.connection = how;
			setText(connection, { live: "Live", lost: "Connection lost, trying again" }[how] || "");
		}
	}

	// The engine is followed while the page is looked at. A browser has few connections to a server, and pages that are out of sight
	// would use them up.
	let stream;

	function follow() {
		stream = new EventSource("api/v1/live");
		stream.addEventListener("open", () => connected("live"));

		stream.addEventListener("overview", ({ data }) => {
			const overview = JSON.parse(data);

			if (list) {
				overviewHeard(overview);
			} else {
				heard(overview.controllers);
			}
		});

		stream.addEventListener("change", ({ data }) => {
			const change = JSON.parse(data);

			if (list) {
				changeHeard(change);
			} else {
				heard(change.controllers || []);
			}
		});

		stream.addEventListener("error", () => {
			connected("lost");

			// The browser tries again by itself, unless it was told off.
			if (stream && stream.readyState === EventSource.CLOSED) {
				unfollow();
				setTimeout(look, 3000);
			}
		});
	}

	function unfollow() {
		stream.close();
		stream = undefined;
	}

	function look() {
		if (document.hidden && stream) {
			unfollow();
			connected("none");
		} else if (!document.hidden && !stream) {
			follow();
		}
	}

	if (list || document.body.dataset.watch || "whole" in document.body.dataset) {
		document.addEventListener("visibilitychange", look);
		look();
	}
})();
