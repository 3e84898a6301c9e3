"""Executes statements with psycopg 3, psycopg2 and SQLAlchemy, as a program of a user does.

Reads JSON with the URL of the database, the mode, and the statements with their parameters. Writes a JSON array with null
or an error for each statement."""

import base64
import decimal
import json
import re
import sys
import uuid

import psycopg
import psycopg2
import psycopg2.extras
import sqlalchemy
from psycopg.types.json import Json, Jsonb

psycopg2.extras.register_uuid()
run = json.load(sys.stdin)

KINDS = {
    "text": str,
    "bytes": base64.b64decode,
    "uuid": uuid.UUID,
    "int": int,
    "bigint": int,
    "decimal": decimal.Decimal,
}
PSYCOPG_3 = {**KINDS, "json": lambda text: Json(json.loads(text)), "jsonb": lambda text: Jsonb(json.loads(text))}
PSYCOPG_2 = {**KINDS, **{kind: lambda text: psycopg2.extras.Json(json.loads(text)) for kind in ("json", "jsonb")}}


def native(kinds, parameter):
    kind, value = kinds[parameter["kind"]], parameter["value"]
    if isinstance(value, list):
        return [None if each is None else kind(each) for each in value]
    return None if value is None else kind(value)


def in_order(sql, placeholder):
    return re.sub(r"\$\d+", placeholder, sql)


def psycopg_3(placeholder="%s", cursor=psycopg.Cursor, **options):
    connection = psycopg.connect(run["url"], autocommit=True, cursor_factory=cursor)

    def execute(sql, parameters):
        values = [native(PSYCOPG_3, parameter) for parameter in parameters]
        connection.execute(in_order(sql, placeholder), values, **options)

    return execute


def psycopg_2():
    connection = psycopg2.connect(run["url"])
    connection.autocommit = True

    def execute(sql, parameters):
        values = [native(PSYCOPG_2, parameter) for parameter in parameters]
        connection.cursor().execute(in_order(sql, "%s"), values)

    return execute


def sqlalchemy_on(driver, kinds):
    engine = sqlalchemy.create_engine(re.sub("^[a-z]+:", f"postgresql+{driver}:", run["url"]))
    connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def execute(sql, parameters):
        # text() would read `::` as a part of a parameter name. Source: the documentation of text().
        named = re.sub(r"\$(\d+)(?:::([a-z\[\]]+))?", lambda m: f"CAST(:p{m[1]} AS {m[2]})" if m[2] else f":p{m[1]}", sql)
        values = {f"p{n}": native(kinds, parameter) for n, parameter in enumerate(parameters, 1)}
        try:
            connection.execute(sqlalchemy.text(named), values)
        finally:
            connection.rollback()

    return execute


MODES = {
    "psycopg": psycopg_3,
    "psycopg, prepared": lambda: psycopg_3(prepare=True),
    "psycopg, binary": lambda: psycopg_3(placeholder="%b"),
    "psycopg, ClientCursor": lambda: psycopg_3(cursor=psycopg.ClientCursor),
    "psycopg2": psycopg_2,
    "SQLAlchemy on psycopg": lambda: sqlalchemy_on("psycopg", PSYCOPG_3),
    "SQLAlchemy on psycopg2": lambda: sqlalchemy_on("psycopg2", PSYCOPG_2),
}
execute = MODES[run["mode"]]()


def error_of(sql, parameters):
    try:
        execute(sql, parameters)
        return None
    except Exception as error:
        cause = getattr(error, "orig", error)
        code = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
        return {"code": code or "client", "message": str(error).split("\n")[0]}


json.dump([error_of(each["sql"], each["parameters"]) for each in run["statements"]], sys.stdout)
