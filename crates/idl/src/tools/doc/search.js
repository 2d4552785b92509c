// The search over the declarations of searchIndex: rows of a name, a kind, a page, and the name of
// the declaration around it.
(function () {
    "use strict";
    var RESULTS_MAX = 50;
    var box = document.getElementById("search");
    if (!box || typeof searchIndex === "undefined") {
        return;
    }
    var input = box.querySelector("input");
    var list = box.querySelector("ol");
    box.hidden = false;

    // Returns the rank of a row, the best one being 0, or -1 if the row does not match.
    function rank(row, wanted) {
        var name = row[0].toLowerCase();
        if (name === wanted) {
            return 0;
        }
        var at = name.indexOf(wanted);
        if (at === 0) {
            return 1;
        }
        if (at > 0) {
            return 2;
        }
        return (row[3] + "::" + row[0]).toLowerCase().indexOf(wanted) >= 0 ? 3 : -1;
    }

    function find(wanted) {
        var found = [[], [], [], []];
        if (wanted) {
            searchIndex.forEach(function (row) {
                var at = rank(row, wanted);
                if (at >= 0 && found[at].length < RESULTS_MAX) {
                    found[at].push(row);
                }
            });
        }
        return found[0].concat(found[1], found[2], found[3]).slice(0, RESULTS_MAX);
    }

    function show() {
        list.textContent = "";
        find(input.value.trim().toLowerCase()).forEach(function (row) {
            var link = document.createElement("a");
            var kind = document.createElement("small");
            var item = document.createElement("li");
            link.href = row[2];
            link.textContent = (row[3] ? row[3] + "::" : "") + row[0] + " ";
            kind.textContent = row[1];
            link.appendChild(kind);
            item.appendChild(link);
            list.appendChild(item);
        });
    }

    // Moves the focus by some results, or back to the input.
    function move(step) {
        var links = Array.prototype.slice.call(list.querySelectorAll("a"));
        var at = links.indexOf(document.activeElement) + step;
        (at < 0 ? input : links[Math.min(at, links.length - 1)] || input).focus();
    }

    input.addEventListener("input", show);
    box.addEventListener("keydown", function (event) {
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            move(event.key === "ArrowDown" ? 1 : -1);
        } else if (event.key === "Enter" && event.target === input && list.querySelector("a")) {
            list.querySelector("a").click();
        } else if (event.key === "Escape") {
            input.value = "";
            show();
            input.focus();
        }
    });
    document.addEventListener("keydown", function (event) {
        if (event.key === "/" && event.target !== input && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            input.focus();
        }
    });
    list.addEventListener("click", function () {
        list.textContent = "";
    });
})();
