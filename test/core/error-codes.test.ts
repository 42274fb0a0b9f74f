/** docs/errors.md lists every status and every code that an answer may have. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errorsPage } from '../../scripts/generate-docs.ts'
import { ErrorCode } from '../../src/core/connector/error-code.ts'
import { errorCodes } from '../../src/core/error-codes.ts'
import { invalidOperation, type MigrationFault } from '../../src/core/migration/fault.ts'

it('is documented by a page that is current', () => {
  expect(readFileSync('docs/errors.md', 'utf8')).toBe(errorsPage())
})

it('has no code that nothing raises', () => {
  const files = globSync('{src,handlers}/**/*.ts', { exclude: ['src/core/error-codes.ts'] })
  const quoted = files.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=')\d+(?=')/g) ?? [])
  const raised = new Set([...quoted, ...Object.values(ErrorCode).map(String)])

  expect(Object.keys(errorCodes).filter((code) => !raised.has(code))).toEqual([])
})

it('has every code of a connector that reaches a caller', () => {
  const shown = Object.values(ErrorCode).filter((code) => code > 0)

  expect(shown.filter((code) => !(String(code) in errorCodes))).toEqual([])
})

it('has every code of migrations', () => {
  const codes = ['idInUse', 'introspectFirst'].map((fault) => invalidOperation(fault as MigrationFault, '').code)
  const listed = Object.entries(errorCodes).flatMap(([code, { kind }]) => (kind === 'unfit' ? [code] : []))

  expect(listed).toEqual(Array.from({ length: 14 }, (_, index) => String(3001 + index)))
  expect(codes).toEqual([listed.at(0), listed.at(-1)])
})
