// Executes statements with pgx, as a program of a user does. Reads JSON with the URL of the database, the mode, and the
// statements with their parameters. Writes a JSON array with null or an error for each statement.
package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"
)

type run struct {
	URL, Mode  string
	Statements []struct {
		SQL        string
		Parameters []struct {
			Kind  string
			Value json.RawMessage
		}
	}
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func main() {
	var given run
	must(json.NewDecoder(os.Stdin).Decode(&given))
	execute := connect(given.URL, given.Mode)
	outcomes := []*failure{}
	for _, each := range given.Statements {
		values := []any{}
		for _, parameter := range each.Parameters {
			values = append(values, native(parameter.Kind, parameter.Value))
		}
		outcomes = append(outcomes, failureOf(execute(each.SQL, values)))
	}
	must(json.NewEncoder(os.Stdout).Encode(outcomes))
}

func connect(url string, mode string) func(sql string, values []any) error {
	ctx := context.Background()
	if mode == "database/sql with pgx" {
		database, err := sql.Open("pgx", url)
		must(err)
		return func(sql string, values []any) error {
			_, err := database.ExecContext(ctx, sql, values...)
			return err
		}
	}
	parameter := "?default_query_exec_mode=" + strings.TrimPrefix(mode, "pgx, ")
	connection, err := pgx.Connect(ctx, url+parameter)
	must(err)
	return func(sql string, values []any) error {
		_, err := connection.Exec(ctx, sql, values...)
		return err
	}
}

// native converts a value to the type that a Go program uses: string, []byte, uuid.UUID, int32, int64, or, for JSON,
// json.RawMessage or a map.
func native(kind string, value json.RawMessage) any {
	if string(value) == "null" {
		return nil
	}
	isArray := value[0] == '['
	switch kind {
	case "bytes":
		return of(isArray, value, func(text string) []byte { return must1(base64.StdEncoding.DecodeString(text)) })
	case "uuid":
		return of(isArray, value, uuid.MustParse)
	case "int":
		return of(isArray, value, func(text string) int32 { return int32(must1(strconv.Atoi(text))) })
	case "bigint":
		return of(isArray, value, func(text string) int64 { return must1(strconv.ParseInt(text, 10, 64)) })
	case "json":
		return of(isArray, value, func(text string) json.RawMessage { return json.RawMessage(text) })
	case "jsonb":
		return of(isArray, value, func(text string) (parsed map[string]any) {
			must(json.Unmarshal([]byte(text), &parsed))
			return
		})
	default:
		return of(isArray, value, func(text string) string { return text })
	}
}

func of[T any](isArray bool, value json.RawMessage, parse func(string) T) any {
	if !isArray {
		var text string
		must(json.Unmarshal(value, &text))
		return parse(text)
	}
	var texts []*string
	must(json.Unmarshal(value, &texts))
	values := []T{}
	pointers := []*T{}
	hasNull := false
	for _, text := range texts {
		if text == nil {
			pointers, hasNull = append(pointers, nil), true
			continue
		}
		parsed := parse(*text)
		values, pointers = append(values, parsed), append(pointers, &parsed)
	}
	if hasNull {
		return pointers
	}
	return values
}

func failureOf(err error) *failure {
	var fromServer *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fromServer):
		return &failure{fromServer.Code, fromServer.Message}
	default:
		return &failure{"client", err.Error()}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func must1[T any](value T, err error) T {
	must(err)
	return value
}
