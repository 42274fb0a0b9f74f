/**
 * What stands in the Worker's bundle for `ajv` and `ajv-formats` (wrangler.toml, alias): 40 KiB of validator that the MCP
 * server imports to check what a user answers to its questions. Ours asks none, and ajv compiles code, which Workers forbid.
 */
export class Ajv {
  constructor() {
    throw new Error('there is no ajv in the Worker')
  }
}

export default Ajv
