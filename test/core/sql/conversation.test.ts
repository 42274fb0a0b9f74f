/** What a write asks of a database that is told each statement when the one before was answered (decision 060). */
import { expect, it } from 'vitest'
import { ddlError } from '../../../src/core/migration/ddl-error.ts'
import { SqlFault } from '../../../src/core/sql/fault.ts'
import { mysqlConversation } from '../../../src/core/sql/mysql/dialect.ts'
import { build } from '../../support/data/build.ts'
import { aloneIn, answeredStatements } from '../../support/data/write-statements.ts'

const model = build.model({ authors: { id: 'int64', name: 'string' } })
const { collection, selection, where } = build.read(model, 'authors', 'fields=name&filter[name][_eq]=Ada')
const assignments = collection.primitives.slice(1).map((field) => ({ field, value: 'Bo' }))
const update = { kind: 'update', collection, where, order: [], assignments, selection } as const

/** The statements of the update, each heeding its answer; the rows of the first one are those of the keys. */
function told(keys: readonly string[]) {
  const { statements, answers } = answeredStatements(aloneIn(update), mysqlConversation, () => keys.map((key) => [key]))
  return { statements: statements.map(({ text, params }) => ({ text, params })), answers: answers[0] }
}

it('finds and locks, then names what it has found', () => {
  const { statements, answers } = told(['7', '9007199254740993'])

  expect(statements).toEqual([
    {
      text: 'select concat(`t0`.`id`) from `authors` `t0` where (`t0`.`name` = ? and `t0`.`name` = convert(? using utf8mb4) collate utf8mb4_0900_bin) for update',
      params: ['Ada', 'Ada'],
    },
    {
      text: 'update `authors` `t0` set `t0`.`name` = ? where `t0`.`id` in (cast(? as signed), cast(? as signed))',
      params: ['Bo', '7', '9007199254740993'],
    },
    {
      text: `select /*+ set_var(group_concat_max_len = 1073741824) */ ifnull(concat('{"name":', ifnull(json_quote(\`t0\`.\`name\`), 'null'), '}'), exp(1000 + rand())) as r from \`authors\` \`t0\` where \`t0\`.\`id\` in (cast(? as signed), cast(? as signed)) order by field(concat(\`t0\`.\`id\`), ?, ?)`,
      params: ['7', '9007199254740993', '7', '9007199254740993'],
    },
  ])
  expect(answers).toEqual([2])
})

it('asks nothing more where it has found nothing', () => {
  const { statements, answers } = told([])

  expect(statements).toHaveLength(1)
  expect(answers).toEqual([])
})

it('names at most 500 keys in one statement', () => {
  const { statements, answers } = told(Array.from({ length: 1_001 }, (_, key) => String(key)))

  expect(statements.map(({ params }) => params.length)).toEqual([2, 501, 501, 2, 1_000, 1_000, 1])
  expect(answers).toEqual([4, 5, 6])
})

it('begins each transaction with no rows', () => {
  told(['7'])

  expect(mysqlConversation.newSlots().isFilled(0)).toEqual(mysqlConversation.slots.isFilled(0))
})

it('says what Vitess does not do, whatever number the error has', () => {
  const fault = new SqlFault('VT10001: foreign key constraints are not allowed', { state: '70100', errno: 1317 })

  expect(ddlError(fault, mysqlConversation)).toMatchObject({ code: '3010' })
})
