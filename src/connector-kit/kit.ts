/** The public API `governed-data-service/connector-kit` for authors of data connectors; see docs/connectors.md. */
export { cleanMessage } from './clean-message.ts'
export * from './connector.ts'
export * from './errors.ts'
export { answerRead, matches } from './records.ts'
export { request } from './request.ts'
