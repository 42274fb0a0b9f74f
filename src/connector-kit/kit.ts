/** What the author of a data connector imports as `governed-data-service/connector-kit`; see docs/connectors.md. */
export { cleanMessage } from './clean-message.ts'
export * from './connector.ts'
export * from './errors.ts'
export { answerRead, matches } from './records.ts'
export { request } from './request.ts'
