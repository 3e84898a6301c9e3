"""Places, ships and annotates orders with examples/mappers/pynamodb_orders.py, and prints the newest orders: play_orders.py ENDPOINT CONFIG"""

import json
import sys

from pynamodb_orders import pynamodb_orders

orders = pynamodb_orders(json.loads(sys.argv[2]), endpoint=sys.argv[1])
for number in range(40):
    orders.place(f"o-{number}", "placed", f"2026-11-01T{number:02}")
for number in range(30):
    orders.ship(f"o-{number}")
for number in range(10, 35):
    orders.annotate(f"o-{number}", "fragile")
found, cursor = orders.newest("shipped")
rest, _ = orders.newest("shipped", cursor)
print(json.dumps([[[order.order_id, order.note] for order in page] for page in (found, rest)]))
