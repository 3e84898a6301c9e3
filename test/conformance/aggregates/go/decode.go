// Reads a Kinesis record from each line: the partition key and the data in base64, and the range of the shard, which
// this decoder ignores. For each record, writes a line with its user records. A user record has its partition key and
// its data in base64. This decoder does not return explicit hash keys.
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go/service/kinesis"
	"github.com/awslabs/kinesis-aggregation/go/deaggregator"
)

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 16<<20)
	for input.Scan() {
		fields := strings.Split(input.Text(), " ")
		partitionKey := string(decoded(fields[0]))
		record := &kinesis.Record{PartitionKey: &partitionKey, Data: decoded(fields[1])}
		records, err := deaggregator.DeaggregateRecords([]*kinesis.Record{record})
		if err != nil {
			panic(err)
		}
		userRecords := make([]string, len(records))
		for index, each := range records {
			userRecords[index] = encoded([]byte(*each.PartitionKey)) + "::" + encoded(each.Data)
		}
		fmt.Println(strings.Join(userRecords, " "))
	}
}

func decoded(text string) []byte {
	bytes, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bytes
}

func encoded(bytes []byte) string {
	return base64.StdEncoding.EncodeToString(bytes)
}
