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
	let edges = new Map(); // by name of the controller, namespace, type and kind
	let scale = 0; // 0 is that the picture fits

	const edgeKey = (controller, namespace, type, kind) => JSON.stringify([controller, namespace, type, kind]);

	function readPicture() {
		nodes = new Map();
		edges = new Map();

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
				const key = edgeKey(controller, resources.namespace, resources.type, element.dataset.kind);

				edges.set(key, { element, rate: 0 });
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
		const fit = Math.max(0.25, Math.min(1, (picture.clientWidth - 2) / width, (picture.clientHeight - 2) / height));

		scale = wanted && Math.max(0.1, Math.min(4, wanted));
		svg.setAttribute("width", Math.round(width * (scale || fit)));
		svg.setAttribute("height", Math.round(height * (scale || fit)));
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

		node.shown = shown;
		node.element.classList.remove(...states);
		node.element.classList.add(state);
		node.element.classList.toggle("active", rate > 0 && !alarming.has(state));
		besideShape(node.element, "sign", 0, 4, state === "waiting" ? "" : signs[state]);
		besideShape(node.element, "rate", 1, 2, rate > 0 ? `${rateText(rate)}/s` : "");

		const label = `${node.label}: ${state}`;

		node.element.setAttribute("aria-label", label);
		setText(node.title, rate > 0 ? `${label}, ${rateText(rate)} passes/s` : label);
	}

	function paintEdge(key, rate) {
		const edge = edges.get(key);

		if (!edge || edge.rate === rate) {
			return;
		}

		edge.rate = rate;
		edge.element.classList.toggle("active", rate > 0);

		if (!edge.text && rate > 0) {
			const line = edge.element.querySelector(".line");
			const middle = line.getPointAtLength(line.getTotalLength() * 0.7);

			edge.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
			edge.text.setAttribute("class", "rate");
			edge.text.setAttribute("x", middle.x);
			edge.text.setAttribute("y", middle.y);
			edge.text.setAttribute("aria-hidden", "true");
			edge.element.append(edge.text);
		}

		setText(edge.text, rate > 0 ? `${rateText(rate)}/s` : "");
	}

	// The list of controllers.
	const list = byId("controllers");
	const search = byId("search");
	const known = new Map(); // by name: what was told last
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
		const row = rows.get(c.name);
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

		setText(cells[0].querySelector(".problem"), c.problem || "");
		setText(cells[2], rateText(c.rate || 0));
		setText(cells[3], c.passes ? String(c.passes) : "");
		setText(cells[4], c.queue ? `${c.ready || 0}${c.delayed ? ` + ${c.delayed}` : ""}` : "");
	}

	function showNode(name) {
		const row = rows.get(name);
		const members = row && row.group !== undefined ? groups.get(row.group) : [name];
		const told = members.map((member) => known.get(member)).filter(Boolean);
		const worst = Math.min(...told.map((c) => states.indexOf(c.state)));

		if (told.length > 0) {
			paint(row && row.group !== undefined ? row.group : name, states[worst], told.reduce((sum, c) => sum + (c.rate || 0), 0));
		}
	}

	function showCounts() {
		const count = new Map();

		for (const c of known.values()) {
			count.set(c.state, (count.get(c.state) || 0) + 1);
		}

		for (const element of all("#states [data-state]")) {
			const n = count.get(element.dataset.state) || 0;

			element.hidden = n === 0;
			setText(element.querySelector(".number"), String(n));
		}
	}

	// partial tells that the list does not have every controller, so that a search needs the server.
	const partial = () => search.form.dataset.partial === "true";

	function filter() {
		const text = search.value.toLowerCase();
		const found = new Set();
		let n = 0;

		for (const row of rows.values()) {
			const has = row.lower.includes(text);

			if (row.element.hidden === has) {
				row.element.hidden = !has;
			}

			if (has) {
				n++;
				found.add(row.group === undefined ? row.name : row.group);
			}
		}

		byId("none").hidden = n > 0;
		setText(byId("count"), text ? `${n} of ${rows.size}` : String(rows.size));

		const svg = picture.querySelector("svg");
		if (!svg) {
			return;
		}

		svg.classList.toggle("searching", text !== "");

		for (const [name, node] of nodes) {
			node.element.classList.toggle("found", text !== "" && found.has(name));
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
			news.push(`${c.name}: ${c.state}`);
			announce();
		}
	}

	// again loads the first page anew, where more has changed than what its controllers do.
	const again = everySecond(async () => {
		const page = await load(search.value && partial() ? `./?q=${encodeURIComponent(search.value)}` : "./");

		morphChildren(list, page.getElementById("controllers"));
		morphChildren(byId("problems"), page.getElementById("problems"));
		search.form.dataset.partial = page.getElementById("search").form.dataset.partial;
		readList();
		known.forEach(showRow);
		filter();
	});

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
		search.addEventListener("input", () => (partial() ? again() : filter()));
		search.addEventListener("keydown", (event) => {
			if (event.key === "Escape" && search.value) {
				search.value = "";
				search.dispatchEvent(new Event("input"));
			}
		});
		addEventListener("resize", () => scale || zoom());

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
		for (const c of controllers) {
			const before = known.get(c.name);

			known.set(c.name, c);

			if (list) {
				tell(before, c);
				showRow(c);
			} else if (before && (watched === c.name || watched === undefined) && (before.passes !== c.passes || before.state !== c.state)) {
				refresh();
			}
		}

		if (list) {
			controllers.forEach((c) => showNode(c.name));
			showCounts();
		}
	}

	const connection = byId("connection");

	function connected(how) {
		if (connection.dataset.connection !== how) {
			connection.dataset.connection = how;
			setText(connection, { live: "Live", lost: "Connection lost, trying again" }[how]);
		}
	}

	// Until there is a stream, what is new is asked for.
	let revision;

	async function poll() {
		try {
			const answer = await fetch("api/v1/overview", { cache: "no-store" });
			if (!answer.ok) {
				throw new Error(answer.statusText);
			}

			const overview = await answer.json();

			for (const c of overview.controllers) {
				const before = known.get(c.name);

				c.rate = before ? c.passes - before.passes : 0;
			}

			heard(overview.controllers);
			connected("live");

			if (list && (overview.controllers.length !== rows.size || (revision !== undefined && revision !== overview.revision))) {
				again();
				drawn();
			}

			revision = overview.revision;
		} catch {
			connected("lost");
		}

		setTimeout(poll, 1000);
	}

	poll();
})();
