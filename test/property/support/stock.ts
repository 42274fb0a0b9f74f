/** What requests are drawn from, for one database and its rows; operands are made once for each field. */
import type { Database } from './database.ts'
import type { Stock } from './request.ts'
import { type Operands, operandsOf, type Rows } from './rows.ts'
import { fieldOf } from './shop.ts'

export function stockOf({ shop, storage, unsorted }: Database, rows: Rows): Stock {
  const known = new Map<string, Operands>()
  return {
    shop,
    unsorted,
    operands(collection, field) {
      const place = `${collection}.${field}`
      const type = fieldOf(shop, collection, field)
      if (type === undefined) throw new Error(`there is no ${place}`)
      const operands = known.get(place) ?? operandsOf({ shop, storage, rows }, collection, field, type)
      known.set(place, operands)
      return operands
    },
  }
}
