/** A Worker that cannot open the instance: what stays as it is, is remembered for a while; what may pass is tried again at once. */
/// <reference types="@cloudflare/vitest-plugin/types" />
import { createExecutionContext } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { createWorker, type Env } from '../../handlers/worker.ts'

const broken = { SERVICE_SECRET: 'x'.repeat(40) } as unknown as Env
const misconfigured = { SERVICE_QUERY__TIMEOUT: 'soon' } as unknown as Env

it('remembers a refusal for five seconds, and nothing that may pass by itself', async () => {
  let now = 0
  const { handler } = createWorker({ clock: { now: () => now } })
  const asked = async (env: Env) => {
    const answer = await handler.fetch(
      new Request<unknown, IncomingRequestCfProperties>('http://127.0.0.1/api/system/ready'),
      env,
      createExecutionContext(),
    )
    return answer.text()
  }

  const passing = await asked(broken)
  const refused = await asked(misconfigured)
  now = 4_999
  const remembered = await asked(broken)
  now = 5_000
  const forgotten = await asked(broken)

  expect(passing).toContain('could not be opened')
  expect(refused).toContain('SERVICE_QUERY__TIMEOUT')
  expect(remembered).toContain('SERVICE_QUERY__TIMEOUT')
  expect(forgotten).toContain('could not be opened')
})
