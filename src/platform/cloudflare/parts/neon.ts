/** A part of the Worker that loads apart (decision 055): PostgreSQL over HTTP through the driver of Neon. */
export { neonUrl, openNeon } from '../../drivers/neon.ts'
