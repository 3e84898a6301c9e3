// Reads Kinesis records, one a line: partition key and data in base64, and the range of the shard, which this decoder does
// not look at. Writes what it makes of each: a line of user records, each as its partition key in base64, no explicit hash
// key, which this decoder leaves out, and its data in base64.
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
