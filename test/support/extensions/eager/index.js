/** A connector that makes a request while its module is loaded; that nobody answers does not matter to it. */
await fetch('http://127.0.0.1:65001/').catch((error) => {
  if (error.name === 'NotCapable') throw error
})

export const preflight = () => ({ permissions: [] })

export const setup = () => ({
  introspect: () => ({ schema: { collections: [] } }),
  query: () => ({ records: [] }),
})
