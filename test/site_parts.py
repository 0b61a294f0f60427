"""Parts of the site: Markdown and formulas as HTML, against texts written by hand; nothing passes through as markup."""
import sys

from command import SOURCE, check, main

sys.path.insert(0, str(SOURCE / "scripts"))
import markdown  # noqa: E402
import mathml  # noqa: E402


def html(text):
    return markdown.render(text)[0]


def test_blocks():
    cases = {
        "a *b* **c** `d*e*`": "<p>a <em>b</em> <strong>c</strong> <code>d*e*</code></p>",
        "2 * 3 * 4": "<p>2 * 3 * 4</p>",
        "<b> & `<i>`": "<p>&lt;b&gt; &amp; <code>&lt;i&gt;</code></p>",
        "[x](y.md#z)": '<p><a href="y.md#z">x</a></p>',
        "![p & q](r.svg)": '<p><img src="r.svg" alt="p &amp; q" loading="lazy"></p>',
        "    code\n\n    more": '<pre class="plain"><code>code\n\nmore</code></pre>',
        "```sh\n# no heading\n```": '<pre class="sh"><code># no heading</code></pre>',
        "- a\n- b\n  c": "<ul><li>a</li><li>b\nc</li></ul>",
        "1. a\n2. b": "<ol><li>a</li><li>b</li></ol>",
        "| a | b |\n|---|---|\n| `x` | y |": '<div class="wide"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>'
                                           "<tr><td><code>x</code></td><td>y</td></tr></tbody></table></div>",
        "<!-- note -->\n| a |\n|---|\n| b |\n<!-- end -->": '<div class="wide"><table><thead><tr><th>a</th></tr></thead><tbody>'
                                                        "<tr><td>b</td></tr></tbody></table></div>",
        "costs $5 and $6": "<p>costs $5 and $6</p>",
    }
    for text, expected in cases.items():
        check(html(text) == expected, text, html(text))


def test_anchors():
    """GitHub's: lower case, spaces to hyphens, punctuation gone, numbers for repeats."""
    body, headings = markdown.render("# A `b`, C!\n## MJCF\n## MJCF\n### `run --out`: files")
    check([h[1] for h in headings] == ["a-b-c", "mjcf", "mjcf-1", "run---out-files"], headings)


def test_links_of_headings_and_code():
    check("javascript" not in html("`[x](javascript:alert(1))`").replace("<code>[x](javascript:alert(1))</code>", ""), "code is no link")


def test_formulas():
    one = mathml.convert(r"\mu P_n", False)
    check(one == "<math><mrow><mi>μ</mi><msub><mi>P</mi><mi>n</mi></msub></mrow></math>", one)
    half = mathml.convert(r"\tfrac12 \text{a b}", False)
    check("<mfrac><mn>1</mn><mn>2</mn></mfrac>" in half and "<mtext>a b</mtext>" in half, half)
    power = mathml.convert(r"V_n^+", False)
    check("<msubsup><mi>V</mi><mi>n</mi>" in power, power)
    matrix = mathml.convert(r"\begin{pmatrix}1 & -0.8\\ -0.8 & 1\end{pmatrix}", False)
    check(matrix.count("<mtd>") == 4 and matrix.count("<mtr>") == 2, matrix)
    for wrong in (r"\nosuch x", "{a", r"\begin{foo}x\end{foo}"):
        try:
            check(False, wrong, mathml.convert(wrong, False))
        except ValueError as error:
            check(wrong in str(error), wrong, error)


if __name__ == "__main__":
    main(globals())
