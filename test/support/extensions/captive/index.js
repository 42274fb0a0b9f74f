/** The hostile connector behind the item API: reading an attempt makes it, and answers what it got hold of. */
import { setup as hostile } from '../../../extensions/hostile/index.js'

const text = (name, isNullable) => ({ name, type: { name: 'string' }, isNullable, isList: false })

const attempts = {
  name: 'attempts',
  fields: [text('name', false), text('escaped', true)],
  key: ['name'],
  operations: ['readOne'],
}

export const preflight = ({ granted }) => ({
  permissions: [{ permission: `net:127.0.0.1:${granted}`, reason: 'the one way out' }],
})

export function setup(ports) {
  const { query } = hostile()
  return {
    introspect: () => ({ schema: { collections: [attempts] } }),
    async query({ key }) {
      const { attempt, escaped } = await query({ name: key.name, ports })
      return { record: { name: attempt, escaped } }
    },
  }
}
