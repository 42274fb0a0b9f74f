/** The bare handler as a Worker: the same driver over HTTP, one database request per request. */
import { neon, neonConfig } from '@neondatabase/serverless'
import type { Hono } from 'hono'
import { createBareApp, type RecordedStatement } from './bare.ts'

type Env = { readonly DATABASE_URL: string; readonly STATEMENTS: readonly RecordedStatement[] }

let app: Hono | undefined

export default {
  fetch(request, env, context) {
    app ??= open(env)
    return app.fetch(request, env, context)
  },
} satisfies ExportedHandler<Env>

function open({ DATABASE_URL, STATEMENTS }: Env): Hono {
  neonConfig.fetchEndpoint = (host, port) => `http://${host}:${port}/sql`
  const sql = neon(DATABASE_URL)
  return createBareApp(STATEMENTS, async ({ text }, params) => {
    const [row] = (await sql.query(text, [...params], { arrayMode: true })) as string[][]
    return row?.[0] ?? ''
  })
}
