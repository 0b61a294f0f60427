"""Pictures of bodies and motions, drawn by the library: they show themselves in notebooks and save themselves to files."""
import base64
import html
import os
import pathlib
import tempfile
import webbrowser

from carom import _carom


def counted(count, one, many=None):
    """A number of things in words: 1 body, 2 bodies."""
    return f"{count} {one if count == 1 else many or one + 's'}"


class Picture:
    """A picture of a trajectory: svg is its text; a notebook shows it, `save` writes it, `open` shows it in a browser.

    >>> import carom
    >>> picture = carom.load("bouncing-ball").show()
    >>> picture.svg.startswith("<svg")
    True
    """
    _ending = ".svg"

    def __init__(self, trajectory, model, what, title="", bodies=(), times=None, at=0.0, speed=1.0):
        bodies = (bodies,) if isinstance(bodies, str) else tuple(bodies)
        self._what = (what, bodies, times, at, speed, title)
        self._source = (trajectory, model)
        self._text = None

    def _draw(self, path):
        _carom._draw(*self._source, path, *self._what)

    def _make(self):
        if self._text is None:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "picture" + self._ending)
                self._draw(path)
                self._text = pathlib.Path(path).read_text(encoding="utf-8")
        return self._text

    @property
    def svg(self):
        """The picture as a text."""
        return self._make()

    def save(self, path):
        """To a file: .svg; .png and .pdf where gnuplot is installed.

        >>> import carom, os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "ball.svg")
        >>> carom.load("bouncing-ball").show().save(path)
        >>> os.path.getsize(path) > 1000
        True
        """
        self._draw(path)

    def open(self):
        """In the browser."""
        with tempfile.NamedTemporaryFile("w", suffix=self._ending, delete=False, encoding="utf-8") as file:
            file.write(self._make())
        webbrowser.open(pathlib.Path(file.name).as_uri())

    def _repr_html_(self):
        data = base64.b64encode(self.svg.encode()).decode()
        title = html.escape(self._what[-1] or self._what[0])
        return f'<img alt="{title}" style="width:100%;max-width:640px" src="data:image/svg+xml;base64,{data}">'

    def __repr__(self):
        return f"<carom.{type(self).__name__}: {self._what[0]}>"


class Animation(Picture):
    """A moving picture of a trajectory: a notebook plays it; `save` also writes .gif, and .mp4 and .webm where ffmpeg is
    installed.

    >>> import carom
    >>> film = carom.load("bouncing-ball").run(1.0).animate(speed=0.5)
    >>> "<animate" in film.svg
    True
    """

    def save(self, path):
        """To a file: .svg, .gif, .mp4 or .webm."""
        self._draw(path)


class Report(Picture):
    """A page about a trajectory: moving picture, charts, certificate and events, in one file of HTML.

    >>> import carom
    >>> page = carom.load("bouncing-ball").run(1.0).report()
    >>> page.html.startswith("<!doctype html>")
    True
    """
    _ending = ".html"

    @property
    def html(self):
        """The page as a text."""
        return self._make()

    def save(self, path):
        """To a file that ends in .html."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self):
        return (f'<iframe title="report" style="width:100%;height:720px;border:0" '
                f'srcdoc="{html.escape(self.html, quote=True)}"></iframe>')


def shown(picture, facts):
    """A picture above lines of (name, value) as HTML; the lines alone where nothing can be drawn."""
    cells = "".join(f'<tr><td style="text-align:left">{html.escape(str(name))}</td>'
                    f'<td style="text-align:left">{html.escape(str(value))}</td></tr>' for name, value in facts)
    try:
        image = picture()._repr_html_()
    except _carom.Error:
        image = ""
    return f"<div>{image}<table>{cells}</table></div>"
