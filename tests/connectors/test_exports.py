"""What is exported is what the corpus holds, as the libraries themselves read it back."""

import importlib
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from datasets.utils import logging as datasets_logging
from langchain_core.documents import Document

from connectors import exports
from connectors.dataset.corpus import file_name
from flows import card, export, schema, shapes
from tests import corpora, samples
from tests.samples import SITE

OTHER = "https://b.test"
ATTRIBUTION = {
    *("run_id", "site", "url", "title", "heading_path", "anchor", "chunk_index", "start", "end"),
    *("content_hash", "lang", "method", "sitemap", "lastmod", "fetched_at", "token_count"),
}
WORDS = 'Ünicode, a \N{LINE SEPARATOR} separator, "quotes" and\ta tab\n'


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    corpora.store(
        root,
        samples.reading("/", WORDS, chunks=3, html=b"<p>\xff"),
        samples.reading("/b", chunks=1),
        samples.reading("/", site=OTHER),
    )
    return root


@pytest.fixture
def stored(data: Path) -> list[dict[str, Any]]:
    """Return the chunks as they are stored."""
    paths = sorted((data / "corpus" / "chunks").iterdir())
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def exported(data: Path, name: str, *options: str) -> Path:
    target = data.parent / "out" / f"{name}{''.join(options)}"
    assert export.main([name, str(target), "--data", str(data), *options]) == 0
    return target


def objects(path: Path) -> list[dict[str, Any]]:
    """Return what each line says; only a line feed ends a line."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def test_jsonl_holds_every_column_of_every_chunk(data: Path, stored: list[dict[str, Any]]) -> None:
    found = objects(exported(data, "jsonl"))

    assert [row["text"] for row in found] == [row["text"] for row in stored]
    assert all(list(row) == schema.SCHEMAS["chunks"].names for row in found)
    assert found[0]["fetched_at"] == "2024-05-01T12:00:00Z"


def test_jsonl_of_pages_holds_decimals_as_they_are_and_no_binary(data: Path) -> None:
    first = objects(exported(data, "jsonl", "--table=pages"))[0]

    assert first["prices"] == [{"amount": "9.9900", "currency": "EUR", "name": "Ticket"}]
    binary = [c.name for c in schema.SCHEMAS["pages"] if pa.types.is_binary(c.type)]
    assert list(first) == [n for n in schema.SCHEMAS["pages"].names if n not in binary]
    assert "html" in binary
    assert first["markdown"] == WORDS


def test_polars_reads_jsonl(data: Path, stored: list[dict[str, Any]]) -> None:
    read = pl.read_ndjson(exported(data, "jsonl"))

    assert read["chunk_id"].to_list() == [row["chunk_id"] for row in stored]
    assert read["heading_path"].to_list() == [row["heading_path"] for row in stored]


@pytest.mark.parametrize("table", ["chunks", "pages"])
def test_langchain_reads_its_documents(data: Path, table: str) -> None:
    lines = exported(data, "langchain", f"--table={table}").read_bytes().split(b"\n")
    documents = [Document.model_validate_json(line) for line in lines if line]

    assert len(documents) == {"chunks": 6, "pages": 3}[table]
    assert documents[0].page_content == WORDS
    assert documents[0].metadata["url"] == f"{SITE}/"
    assert len({document.id for document in documents}) == len(documents)


def test_a_langchain_document_keeps_all_attribution(
    data: Path, stored: list[dict[str, Any]]
) -> None:
    documents = [Document.model_validate(row) for row in objects(exported(data, "langchain"))]

    assert set(documents[0].metadata) >= ATTRIBUTION
    assert documents[0].metadata["source"] == f"{SITE}/#part"
    assert [d.metadata["sitemap"] for d in documents] == [row["sitemap"] for row in stored]


@pytest.fixture(scope="module")
def llama() -> Any:
    """Return the module of nodes, imported late: it takes seconds."""
    return importlib.import_module("llama_index.core.schema")


def test_llamaindex_reads_its_nodes(data: Path, stored: list[dict[str, Any]], llama: Any) -> None:
    nodes = [llama.TextNode.from_dict(row) for row in objects(exported(data, "llamaindex"))]

    assert [(node.node_id, node.text) for node in nodes] == [
        (row["chunk_id"], row["text"]) for row in stored
    ]
    assert [(n.start_char_idx, n.end_char_idx) for n in nodes] == [
        (row["start"], row["end"]) for row in stored
    ]
    assert set(nodes[0].metadata) >= ATTRIBUTION


def test_llamaindex_knows_the_page_and_the_neighbours_of_a_node(data: Path, llama: Any) -> None:
    nodes = [llama.TextNode.from_dict(row) for row in objects(exported(data, "llamaindex"))]
    of_page = [node for node in nodes if node.metadata["url"] == f"{SITE}/"]

    assert {node.source_node.node_id for node in of_page} == {f"{SITE}/"}
    assert [getattr(node.next_node, "node_id", None) for node in of_page] == [
        of_page[1].node_id,
        of_page[2].node_id,
        None,
    ]
    assert of_page[1].prev_node.node_id == of_page[0].node_id
    assert llama.NodeRelationship.PREVIOUS not in of_page[0].relationships


def test_llamaindex_embeds_the_headings_and_no_housekeeping(data: Path, llama: Any) -> None:
    node = llama.TextNode.from_dict(objects(exported(data, "llamaindex"))[0])
    embedded = node.get_content(llama.MetadataMode.EMBED)

    assert "heading_path: ['Page', 'Part']" in embedded
    assert "run_id" not in embedded
    assert f"source: {SITE}/#part" in node.get_content(llama.MetadataMode.LLM)


@pytest.fixture
def quiet() -> Iterator[None]:
    datasets_logging.disable_progress_bar()
    yield
    datasets_logging.enable_progress_bar()


@pytest.mark.usefixtures("quiet")
def test_datasets_reads_the_folder_by_its_card(
    data: Path, stored: list[dict[str, Any]], tmp_path: Path
) -> None:
    folder = str(exported(data, "huggingface"))
    cache = str(tmp_path / "cache")
    chunks = load_dataset(folder, split="train", cache_dir=cache)
    pages = load_dataset(folder, "pages", split="train", cache_dir=cache)

    assert list(chunks) == stored
    assert pages["markdown"][0] == WORDS
    assert pages.column_names == schema.SCHEMAS["pages"].names


def test_the_card_counts_what_is_there_and_names_every_site(data: Path) -> None:
    told = (exported(data, "huggingface") / "README.md").read_text(encoding="utf-8")

    assert f"| {SITE} | 4 | 2 | 40 |" in told
    assert f"| {OTHER} | 2 | 1 | 20 |" in told
    assert "fetched 2024-05-01 (UTC)" in told
    assert "language:\n- en\n" in told


def test_the_card_of_nothing_is_a_card() -> None:
    told = card.render(card.Tally(), ["chunks"], "1")

    assert told.startswith("---\npretty_name: Web pages of no site\nlicense: other\n")


def test_a_large_table_becomes_several_files(
    data: Path, stored: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "SHARD_BYTES", 1)
    parts = sorted((exported(data, "huggingface") / "chunks").iterdir())

    assert [path.name for path in parts] == ["train-00000.parquet", "train-00001.parquet"]
    assert [row for path in parts for row in pq.read_table(path).to_pylist()] == stored


def test_one_site_can_be_exported_alone(data: Path) -> None:
    assert {row["site"] for row in objects(exported(data, "jsonl", f"--site={OTHER}"))} == {OTHER}


def test_a_site_may_be_named_by_its_host_or_by_a_url_of_it(data: Path) -> None:
    for name in (f"{OTHER}/", OTHER.partition("://")[2]):
        assert {row["site"] for row in objects(exported(data, "jsonl", f"--site={name}"))} == {
            OTHER
        }


def test_who_names_no_site_of_the_corpus_hears_which_there_are(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = str(data.parent / "x.jsonl")

    assert export.main(["jsonl", target, "--data", str(data), "--site", "c.test"]) == 2
    assert OTHER in capsys.readouterr().err


@pytest.mark.parametrize("name", ["jsonl", "huggingface"])
def test_a_target_in_the_dataset_is_refused(
    name: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = data / "corpus" / "x"

    assert export.main([name, str(target), "--data", str(data)]) == 2
    assert "lies in the dataset folder" in capsys.readouterr().err
    assert not target.exists()


def test_a_folder_that_is_an_export_is_replaced_whole(data: Path) -> None:
    folder = exported(data, "huggingface")
    (folder / "chunks" / "stale.parquet").touch()
    exported(data, "huggingface")

    assert [path.name for path in (folder / "chunks").iterdir()] == ["train-00000.parquet"]
    assert [path.name for path in folder.parent.iterdir()] == ["huggingface"]


def test_a_folder_of_somebody_else_is_refused_and_kept(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = export.main(["huggingface", str(data), "--data", str(data)])

    assert (status, capsys.readouterr().err) == (
        2,
        f"flows.export: {data} is there already, and no export of ours\n",
    )
    assert (data / "corpus").is_dir()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--data", "nowhere"], "no corpus in nowhere: is it a dataset folder?"),
        (["--site", "https://c.test"], "no site https://c.test in "),
    ],
    ids=["no dataset", "no site"],
)
def test_what_is_not_there_is_told_in_one_line_and_leaves_nothing(
    data: Path, options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = data.parent / "chunks.jsonl"
    status = export.main(["jsonl", str(target), "--data", str(data), *options])
    said = capsys.readouterr().err

    assert (status, said.count("\n")) == (2, 1)
    assert told in said
    assert [path.name for path in data.parent.iterdir()] == ["data"]


@pytest.mark.parametrize("name", ["jsonl", "huggingface"])
def test_a_damaged_corpus_leaves_the_export_of_before(
    name: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = exported(data, name)
    before = sorted(target.parent.rglob("*"))
    (data / "corpus" / "chunks" / file_name(OTHER)).write_bytes(b"PAR1")

    assert export.main([name, str(target), "--data", str(data)]) == 2
    assert "damaged file" in capsys.readouterr().err
    assert sorted(target.parent.rglob("*")) == before


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    peaks = []
    for sites in (2, 16):
        root = tmp_path / str(sites)
        for number in range(sites):
            one = samples.reading(text="word " * 40_000, site=f"https://{number}.test", chunks=4)
            corpora.store(root, replace(one, links=()))
        arrow = pa.total_allocated_bytes()
        tracemalloc.start()
        exports.lines(root, tmp_path / "all.jsonl", shapes.langchain, "chunks", ())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

        assert pa.total_allocated_bytes() - arrow < 1 << 20
    assert peaks[1] < 1.5 * peaks[0]
