/** docs/contract.md#what-the-caller-sees: what becomes of an error that no service has put into words. */
import { expect, it } from 'vitest'
import { failure } from '../../handlers/http/answer.ts'
import { BUSY, SqlFault } from '../../src/core/sql/fault.ts'

it.each([
  { name: 'a connection that a statement of the service waited for', state: BUSY, status: 503, code: '5007' },
  { name: 'a system database that cannot be reached', state: '08000', status: 503, code: undefined },
  { name: 'a system database that is starting or stopping', state: '57P03', status: 503, code: undefined },
  { name: 'a statement of which nobody knows whether it was done', state: '08006', status: 500, code: undefined },
  { name: 'any other fault of the system database', state: '42P01', status: 500, code: undefined },
])('$name is $status', ({ state, status, code }) => {
  const answer = failure(new SqlFault('secret', { state }))

  expect(answer.status).toBe(status)
  expect(JSON.parse(String(answer.body)).code).toBe(code)
  expect(answer.body).not.toContain('secret')
})
