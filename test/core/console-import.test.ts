/** What the console's import reads of a file, and which column of it becomes which field (console/src/screens/transfer). */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { csvLine } from '../../console/src/screens/transfer/csv-line.ts'
import { planOf } from '../../console/src/screens/transfer/plan.ts'
import { openSource, recordsOf } from '../../console/src/screens/transfer/records.ts'

const field = (name: string, title: string) => ({ name, title })
const fields = [field('name', 'Title'), field('title', 'Heading')]

it.each([
  ['by its name', ['title', 'name'], { title: 'title', name: 'name' }],
  ['by its name in other letters', [' NAME', 'x'], { ' NAME': 'name' }],
  ['by its title', ['heading'], { heading: 'title' }],
  ['by its name before a title', ['Title', 'Heading'], { Title: 'title' }],
  ['once, by the exact name', ['Name', 'name'], { name: 'name' }],
  ['once, by the first of equal ones', ['NAME', 'Name'], { NAME: 'name' }],
])('is a field %s', (_, names, planned) => {
  const plan = planOf(names, fields)

  expect(Object.fromEntries([...plan].map(([column, { name }]) => [column, name]))).toEqual(planned)
})

const fileOf = (text: string) => new File([text], 'file')

async function readBack(file: File) {
  const source = await openSource(file)
  const records = []
  for await (const { line, number, values } of recordsOf(source)) records.push({ line, number, values })
  return { names: source.names, records }
}

it('reads any lines of CSV as they were written, an empty text told from null', async () => {
  const cell = fc.option(fc.string({ unit: fc.constantFrom(...`",;\t\r\n a'é`) }), { nil: undefined })
  const names = ['one', 'two', 'three']
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), cell, cell)), async (rows) => {
      const { records } = await readBack(fileOf([names, ...rows].map(csvLine).join('')))

      const written = rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? null])))
      expect(records.map(({ values }) => values)).toEqual(written)
    }),
  )
})

it.each([
  ['of semicolons', 'a;b\n1,5;2', [{ line: 2, number: 1, values: { a: '1,5', b: '2' } }]],
  [
    'with lines in quotes',
    'a,b\r\n"1\r\n2",3\r\n4,',
    [
      { line: 2, number: 1, values: { a: '1\r\n2', b: '3' } },
      { line: 4, number: 2, values: { a: '4', b: null } },
    ],
  ],
  [
    'with empty lines',
    'a\n\n1\n\n""\n',
    [
      { line: 3, number: 1, values: { a: '1' } },
      { line: 5, number: 2, values: { a: '' } },
    ],
  ],
  ['with a name twice', 'a,a\n1,2', [{ line: 2, number: 1, values: { a: '1', 'a (2)': '2' } }]],
  [
    'with a name that another has twice',
    'a,a,a (2)\n1,2,3',
    [{ line: 2, number: 1, values: { a: '1', 'a (3)': '2', 'a (2)': '3' } }],
  ],
  [
    'of JSON',
    '[{"a": "}\\""},\n{"b": {}}]',
    [
      { line: 1, number: 1, values: { a: '}"' } },
      { line: 2, number: 2, values: { b: {} } },
    ],
  ],
])('reads a file %s', async (_, text, records) => {
  expect((await readBack(fileOf(text))).records).toEqual(records)
})

it.each([
  ['a cell too many', 'a,b\n1,2\n1,2,3', 3],
  ['quotes that do not end', 'a\n1\n"2\n', 3],
  ['what stands behind quotes', 'a\n"1"2', 2],
  ['an object that does not end', '[{"a": 1},\n{"a": ', 2],
  ['a list that does not end', '[{"a": 1},\n', 2],
])('cannot read %s, and says where', async (_, text, line) => {
  await expect(readBack(fileOf(text))).rejects.toMatchObject({ line })
})
