"""What lies in a document beside its text, and is drawn by a program that knows how: diagrams, charts, text boxes,
documents within documents. Each with what it needs to be drawn, or without it."""

from __future__ import annotations

from html import escape

from tests.copies.corpus import odf
from tests.copies.corpus.office import docx, paragraph, pptx, run, xlsx
from tests.copies.corpus.unfaithful import PICTURES, open_picture, picture_in_line
from tests.copies.corpus.zips import HEAD

_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_C = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_DGM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_DSP = "http://schemas.microsoft.com/office/drawing/2008/diagram"
_DRAWING_OF_DIAGRAM = "http://schemas.microsoft.com/office/2007/relationships/diagramDrawing"
_WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_WPS = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_V = 'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"'
_WIDE, _HIGH = 4_000_000, 1_500_000


def _inline(uri: str, inner: str, *, number: int = 5) -> str:
    return (
        f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{_WP}" xmlns:a="{_A}"><wp:extent cx="{_WIDE}" cy="{_HIGH}"/>'
        f'<wp:docPr id="{number}" name="Figur"/><a:graphic><a:graphicData uri="{uri}">{inner}</a:graphicData>'
        "</a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )


def letter_with_diagram(words: tuple[str, ...], *blocks: str, is_drawn: bool) -> bytes:
    """A letter with a diagram of boxes (SmartArt): its words, and the drawing of it that programs keep beside them."""
    points = "".join(
        f'<dgm:pt modelId="{number}"><dgm:prSet/><dgm:spPr/><dgm:t><a:bodyPr/><a:p><a:r><a:t>{escape(word)}</a:t></a:r>'
        "</a:p></dgm:t></dgm:pt>"
        for number, word in enumerate(words, start=2)
    )
    drawn = f'<a:ext uri="{_DSP}"><dsp:dataModelExt xmlns:dsp="{_DSP}" relId="tegning"/></a:ext>' if is_drawn else ""
    parts: dict[str, str | bytes] = {
        "word/diagrams/data1.xml": f'{HEAD}<dgm:dataModel xmlns:dgm="{_DGM}" xmlns:a="{_A}"><dgm:ptLst>'
        f'<dgm:pt modelId="1" type="doc"><dgm:prSet/><dgm:spPr/></dgm:pt>{points}</dgm:ptLst><dgm:cxnLst/><dgm:bg/>'
        f"<dgm:whole/><dgm:extLst>{drawn}</dgm:extLst></dgm:dataModel>",
        "word/diagrams/layout1.xml": f'{HEAD}<dgm:layoutDef xmlns:dgm="{_DGM}"><dgm:layoutNode/></dgm:layoutDef>',
        "word/diagrams/quickStyle1.xml": f'{HEAD}<dgm:styleDef xmlns:dgm="{_DGM}"/>',
        "word/diagrams/colors1.xml": f'{HEAD}<dgm:colorsDef xmlns:dgm="{_DGM}"/>',
    }
    relations = [
        ("data", "diagramData", "diagrams/data1.xml", False),
        ("layout", "diagramLayout", "diagrams/layout1.xml", False),
        ("stil", "diagramQuickStyle", "diagrams/quickStyle1.xml", False),
        ("farger", "diagramColors", "diagrams/colors1.xml", False),
    ]
    if is_drawn:
        relations.append(("tegning", _DRAWING_OF_DIAGRAM, "diagrams/drawing1.xml", False))
        parts["word/diagrams/drawing1.xml"] = _drawing_of(words)
    marks = f'<dgm:relIds xmlns:dgm="{_DGM}" r:dm="data" r:lo="layout" r:qs="stil" r:cs="farger"/>'
    return docx(*blocks, _inline(_DGM, marks), relations=relations, extra=parts)


def _drawing_of(words: tuple[str, ...]) -> str:
    boxes = "".join(
        f'<dsp:sp modelId="{{{number}}}"><dsp:nvSpPr><dsp:cNvPr id="0" name=""/><dsp:cNvSpPr/></dsp:nvSpPr><dsp:spPr>'
        f'<a:xfrm><a:off x="{1_300_000 * number}" y="0"/><a:ext cx="1200000" cy="900000"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:ln><a:solidFill><a:srgbClr val="204080"/></a:solidFill>'
        f"</a:ln></dsp:spPr><dsp:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r><a:t>{escape(word)}</a:t></a:r></a:p>"
        "</dsp:txBody></dsp:sp>"
        for number, word in enumerate(words)
    )
    group = '<dsp:nvGrpSpPr><dsp:cNvPr id="0" name=""/><dsp:cNvGrpSpPr/></dsp:nvGrpSpPr><dsp:grpSpPr/>'
    return f'{HEAD}<dsp:drawing xmlns:dsp="{_DSP}" xmlns:a="{_A}"><dsp:spTree>{group}{boxes}</dsp:spTree></dsp:drawing>'


def letter_with_chart(title: str, *blocks: str) -> bytes:
    """A letter with a chart of columns, as every program draws it."""
    rows = "".join(f'<c:pt idx="{at}"><c:v>{word}</c:v></c:pt>' for at, word in enumerate(("januar", "februar")))
    values = "".join(f'<c:pt idx="{at}"><c:v>{number}</c:v></c:pt>' for at, number in enumerate((3, 5)))
    chart = (
        f'{HEAD}<c:chartSpace xmlns:c="{_C}" xmlns:a="{_A}"><c:chart><c:title><c:tx><c:rich><a:bodyPr/><a:p><a:r>'
        f"<a:t>{escape(title)}</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:layout/><c:barChart>"
        '<c:barDir val="col"/><c:grouping val="clustered"/><c:ser><c:idx val="0"/><c:order val="0"/><c:cat><c:strLit>'
        f'<c:ptCount val="2"/>{rows}</c:strLit></c:cat><c:val><c:numLit><c:ptCount val="2"/>{values}</c:numLit></c:val>'
        '</c:ser><c:axId val="1"/><c:axId val="2"/></c:barChart><c:catAx><c:axId val="1"/><c:scaling><c:orientation'
        ' val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="b"/><c:crossAx val="2"/></c:catAx><c:valAx><c:axId'
        ' val="2"/><c:scaling><c:orientation val="minMax"/></c:scaling><c:delete val="0"/><c:axPos val="l"/><c:crossAx'
        ' val="1"/></c:valAx></c:plotArea><c:plotVisOnly val="1"/></c:chart></c:chartSpace>'
    )
    mark = f'<c:chart xmlns:c="{_C}" r:id="graf"/>'
    return docx(
        *blocks,
        _inline(_C, mark),
        relations=[("graf", "chart", "charts/chart1.xml", False)],
        extra={"word/charts/chart1.xml": chart},
    )


def text_box(text: str, *, high: int = _HIGH) -> str:
    """A paragraph with a box of text that is so high, as Word writes it for newer programs and for older ones."""
    inner = f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"
    box = (
        f'<wp:anchor xmlns:wp="{_WP}" distT="0" distB="0" distL="0" distR="0" simplePos="0" relativeHeight="2"'
        ' behindDoc="0" locked="0" layoutInCell="1" allowOverlap="1"><wp:simplePos x="0" y="0"/><wp:positionH'
        ' relativeFrom="column"><wp:posOffset>0</wp:posOffset></wp:positionH><wp:positionV relativeFrom="paragraph">'
        f'<wp:posOffset>200000</wp:posOffset></wp:positionV><wp:extent cx="{_WIDE}" cy="{high}"/><wp:wrapTopAndBottom/>'
        f'<wp:docPr id="7" name="Boks"/><a:graphic xmlns:a="{_A}"><a:graphicData uri="{_WPS}">'
        f'<wps:wsp xmlns:wps="{_WPS}">'
        f'<wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{_WIDE}" cy="{high}"/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr><wps:txbx>'
        f"{inner}</wps:txbx><wps:bodyPr><a:noAutofit/></wps:bodyPr></wps:wsp></a:graphicData></a:graphic></wp:anchor>"
    )
    old = f'<w:pict><v:shape {_V} style="width:300pt;height:90pt"><v:textbox>{inner}</v:textbox></v:shape></w:pict>'
    return (
        f'<w:p><w:r><mc:AlternateContent xmlns:mc="{_MC}"><mc:Choice xmlns:wps="{_WPS}" Requires="wps"><w:drawing>{box}'
        f"</w:drawing></mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )


def newer_choice(text: str, fallback: str) -> str:
    """A paragraph for programs that know a feature that none here does, and one for all others."""
    return (
        f'<w:p><mc:AlternateContent xmlns:mc="{_MC}"><mc:Choice xmlns:ny="urn:eksempel:nyere" Requires="ny">{run(text)}'
        f"</mc:Choice><mc:Fallback>{run(fallback)}</mc:Fallback></mc:AlternateContent></w:p>"
    )


def letter_with_object(*blocks: str, preview: str = "") -> bytes:
    """A letter with a workbook within, and the picture of it that Word shows; without one there is nothing to show."""
    relations = [("ark", "package", "embeddings/ark1.xlsx", False)]
    extra: dict[str, str | bytes] = {"word/embeddings/ark1.xlsx": xlsx([["innebygd", "42"]])}
    picture = ""
    if preview:
        relations.append(("visning", "image", f"media/{preview}", False))
        extra[f"word/media/{preview}"] = PICTURES[preview]
        picture = '<v:imagedata r:id="visning"/>'
    shown = (
        f'<w:p><w:r><w:object {_V} xmlns:r="{_R}"><v:shape id="figur1" style="width:180pt;height:60pt">{picture}'
        '</v:shape><o:OLEObject Type="Embed" ProgID="Excel.Sheet.12" ShapeID="figur1" DrawAspect="Content"'
        ' ObjectID="_1" r:id="ark"/></w:object></w:r></w:p>'
    )
    return docx(*blocks, shown, relations=relations, extra=extra)


def letter_with_head(picture: str, *blocks: str) -> bytes:
    """A letter with a picture in its head, as a municipality has its arms there."""
    relation = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="bilde0"'
        f' Type="{_R}/image" Target="media/{picture}"/></Relationships>'
    )
    extra: dict[str, str | bytes] = {
        "word/_rels/header1.xml.rels": HEAD + relation,
        f"word/media/{picture}": PICTURES[picture],
    }
    return docx(*blocks, header=picture_in_line(0), extra=extra)


def open_letter_with_head(picture: str, *blocks: str) -> bytes:
    """The same in OpenDocument."""
    head = f"<style:header><text:p>{open_picture(picture)}</text:p></style:header>"
    styles = odf.STYLES.replace(
        'style:page-layout-name="P1"/>', f'style:page-layout-name="P1">{head}</style:master-page>'
    )
    members: dict[str, str | bytes] = {"styles_xml": styles, f"Pictures/{picture}": PICTURES[picture]}
    return odf.odt(*blocks, styles="", changes="", **members)


def slides_with_object(*slides: str, preview: str = "") -> bytes:
    """A presentation with a workbook on its first slide, and the picture of it that PowerPoint shows."""
    relations = [("ark", "package", "../embeddings/ark1.xlsx", False)]
    extra: dict[str, str | bytes] = {"ppt/embeddings/ark1.xlsx": xlsx([["innebygd", "42"]])}
    area = '<a:off x="900000" y="4200000"/><a:ext cx="3000000" cy="900000"/>'
    picture = ""
    if preview:
        relations.append(("visning", "image", f"../media/{preview}", False))
        extra[f"ppt/media/{preview}"] = PICTURES[preview]
        picture = (
            '<p:pic><p:nvPicPr><p:cNvPr id="0" name=""/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip'
            ' r:embed="visning"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm>'
            f'{area}</a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>'
        )
    frame = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="8" name="Objekt"/><p:cNvGraphicFramePr/><p:nvPr/>'
        f"</p:nvGraphicFramePr><p:xfrm>{area}</p:xfrm><a:graphic><a:graphicData"
        ' uri="http://schemas.openxmlformats.org/presentationml/2006/ole"><p:oleObj name="Ark" r:id="ark"'
        f' imgW="3000000" imgH="900000" progId="Excel.Sheet.12"><p:embed/>{picture}</p:oleObj></a:graphicData>'
        "</a:graphic></p:graphicFrame>"
    )
    return pptx(slides, shapes=[frame], relations=relations, extra=extra)


_ANCHOR = (
    "<xdr:twoCellAnchor><xdr:from><xdr:col>0</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>{0}</xdr:row><xdr:rowOff>0"
    "</xdr:rowOff></xdr:from><xdr:to><xdr:col>3</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>{1}</xdr:row><xdr:rowOff>0"
    "</xdr:rowOff></xdr:to>{2}<xdr:clientData/></xdr:twoCellAnchor>"
)
_AREA = (
    '<xdr:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1800000" cy="900000"/></a:xfrm><a:prstGeom prst="rect">'
    "<a:avLst/></a:prstGeom></xdr:spPr>"
)


def sheet_with_pictures(rows: list[list[str]], *names: str, text: str = "", is_shown: bool = True) -> bytes:
    """A workbook with these pictures over its cells, and a box with a text, which may be hidden."""
    shapes = [
        f'<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="{at + 2}" name="Bilde"/><xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill>'
        f'<a:blip r:embed="bilde{at}"/><a:stretch><a:fillRect/></a:stretch></xdr:blipFill>{_AREA}</xdr:pic>'
        for at in range(len(names))
    ]
    hidden = "" if is_shown else ' hidden="1"'
    if text:
        shapes.append(
            f'<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="90" name="Boks"{hidden}/><xdr:cNvSpPr txBox="1"/></xdr:nvSpPr>{_AREA}'
            f"<xdr:txBody><a:bodyPr/><a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
        )
    drawing = "".join(_ANCHOR.format(6 + 8 * at, 12 + 8 * at, shape) for at, shape in enumerate(shapes))
    return xlsx(
        rows,
        drawing=drawing,
        drawn=[(f"bilde{at}", "image", f"../media/{name}", False) for at, name in enumerate(names)],
        extra={f"xl/media/{name}": PICTURES[name] for name in names},
    )


def slides_on_gradient(slides: tuple[str, ...]) -> bytes:
    """A presentation whose slides lie on a ground that runs from one colour into another, and come in by turning."""
    ground = (
        '<p:bg><p:bgPr><a:gradFill><a:gsLst><a:gs pos="0"><a:srgbClr val="C0D8F0"/></a:gs><a:gs pos="100000"><a:srgbClr'
        ' val="FFFFFF"/></a:gs></a:gsLst><a:lin ang="5400000" scaled="0"/></a:gradFill><a:effectLst/></p:bgPr></p:bg>'
    )
    return pptx(slides, ground=ground, after='<p:transition spd="med"><p:fade/></p:transition>')
