/** The bare handler that the service is compared with: Hono, the same SQL with the same parameters, JSON text out. */
import { Hono } from 'hono'

/** A statement recorded from the service, and where its parameters come from. */
export type RecordedStatement = {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly text: string
  readonly params: readonly RecordedParam[]
}

export type RecordedParam =
  | { readonly kind: 'fixed'; readonly value: string | null }
  | { readonly kind: 'key' }
  | { readonly kind: 'field'; readonly name: string }

/** Returns the first column of the first row. */
export type RunStatement = (statement: RecordedStatement, params: readonly (string | null)[]) => Promise<string>

type Item = Readonly<Record<string, unknown>>

export function createBareApp(statements: readonly RecordedStatement[], run: RunStatement): Hono {
  const app = new Hono()
  for (const statement of statements) {
    app.on(statement.method, `/${statement.name}/:key`, async (c) => {
      const key = c.req.param('key')
      const [item] = statement.method === 'POST' ? ((await c.req.json()) as Item[]) : []
      const params = statement.params.map((param) => {
        if (param.kind === 'fixed') return param.value
        return param.kind === 'key' ? key : String(item?.[param.name])
      })
      return c.body(`{"data":${await run(statement, params)}}`, 200, { 'Content-Type': 'application/json' })
    })
  }
  return app
}
