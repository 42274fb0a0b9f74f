/** The local run on Node. */
import { expect, it } from 'vitest'
import { freePort } from '../support/servers/free-port.ts'
import { startRefused } from '../support/service/local-run.ts'
import { describeLocalRun } from './local-run.ts'

describeLocalRun('start:node')

it('names the variable of a system database that cannot be reached', async () => {
  const port = await freePort()
  const refusal = await startRefused('start:node', {
    SERVICE_DATABASE_URL: `postgres://someone:a-password@127.0.0.1:${port}/service`,
    SERVICE_SECRET: 'a secret of thirty-two bytes or more',
  })

  expect(refusal.code).toBe(1)
  expect(refusal.output).toContain(`SERVICE_DATABASE_URL: the system database cannot be used: connect ECONNREFUSED`)
  expect(refusal.output).not.toContain('a-password')
})
