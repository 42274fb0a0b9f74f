/** Texts that are far too large to be answered at once, in MySQL and MariaDB, and a model of them. */
import type { SqlDriver } from '../../../src/ports/database.ts'
import { build } from './build.ts'

export const VALUES = 400

export const tooLarge = { cause: { code: '1006' } }

export const textsModel = build.model(
  {
    shelves: { id: 'int32' },
    texts: { id: 'int32', shelfId: 'int32', detail: 'string', note: 'string?' },
    slips: { id: 'int32', textId: 'int32' },
  },
  ['texts.shelf(shelfId) -> shelves.texts', 'slips.text(textId) -> texts.slips'],
)

/** 400 texts of 1 MB; 400 slips of one text, and 40 of one each. */
export async function fillTexts(driver: SqlDriver): Promise<void> {
  await driver.query(statement('create table shelves (id int primary key)'))
  await driver.query(statement('insert into shelves values (1)'))
  await driver.query(
    statement(`create table texts (id int primary key, shelfId int, detail longtext, note varchar(20), index (shelfId))
      select seq as id, 1 as shelfId, repeat('x', 1000000) as detail from seq_1_to_${VALUES}`),
  )
  await driver.query(
    statement(`create table slips (id int primary key, textId int)
      select seq as id, if(seq <= 400, 1, seq - 400) as textId from seq_1_to_440`),
  )
}

/** Ways to ask for all of them at once: the collection, and how. */
export const allTexts = [
  ['as a list', 'texts', 'fields=detail&limit=400'],
  ['as a list that is counted', 'texts', 'fields=detail&limit=400&meta=totalCount'],
  ['as a list of one item', 'shelves', 'fields=texts.detail&deep[texts][_limit]=400'],
] as const

/** Ways to add them to slips: which slips. */
export const allSlips = [
  ['one text in 400 items', 'filter[id][_lte]=400'],
  ['many texts', 'filter[id][_gt]=400'],
] as const

function statement(text: string) {
  return { text, params: [] }
}
