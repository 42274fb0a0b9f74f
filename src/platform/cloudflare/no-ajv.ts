/**
 * Replaces `ajv` and `ajv-formats` in the Worker's bundle (alias in wrangler.toml). The MCP server imports these 40 KiB
 * to validate answers to elicitations; this service sends none, and ajv compiles code, which Workers forbid.
 */
export class Ajv {
  constructor() {
    throw new Error('there is no ajv in the Worker')
  }
}

export default Ajv
