"""Pictures that are masters, and a policy that makes access copies of them."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

from noarkit.copies.port import Identity, Product, Rule, Task
from noarkit.safe.sandbox import Limits

POLICY = """
[policy]
name = "nordby"
base = "no-raf-2022"

[rules.read-picture]
purpose = "access"
match = ["fmt/353", "x-fmt/392"]
action = "derive"
converters = ["picture-view"]
target = "jpeg"
longest-side = 600
otherwise = "read-pages"

[rules.read-pages]
purpose = "access"
match = []
action = "derive"
converters = ["picture-view"]
target = "pdf"
longest-side = 600
"""


def master(width: int = 900, height: int = 600) -> Image.Image:
    """A picture in colours, no two of whose corners are alike."""
    ramp = Image.linear_gradient("L").resize((width, height))
    picture = Image.merge("RGB", (ramp, ramp.transpose(Image.Transpose.FLIP_TOP_BOTTOM), ramp))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((width // 10, height // 10, width // 3, height // 3), fill=(200, 20, 20))
    pen.ellipse((width // 2, height // 2, width - 20, height - 20), fill=(20, 20, 200))
    return picture


def write_masters(folder: Path) -> Path:
    """The policy, and a case with a master of one picture and one of two; the folder of the case."""
    (folder / "policy.toml").write_text(POLICY, "utf-8")
    case = folder / "saker" / "2024-1"
    case.mkdir(parents=True)
    master().save(case / "map.tif", dpi=(300, 300))
    master().save(case / "case.tif", save_all=True, append_images=[ImageOps.flip(master())])
    return case


def task(source: Path, target: str, media_type: str, folder: Path, **options: object) -> Task:
    """A picture to be made an access copy of."""
    rule = Rule("read", (), "derive", ("picture-view",), target, options=options, purpose="access")
    identity = Identity("fmt/353", media_type, source.suffix[1:], "signature")
    folder.mkdir(exist_ok=True)
    return Task(source, source.name, identity, rule, target, folder, Limits(60.0, 240.0))


def product(path: Path) -> Product:
    return Product(path, "Pillow", "1")
