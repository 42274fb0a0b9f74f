/** The maximum size of an answer to a caller, for every dialect and driver (docs/decisions/033). */

/**
 * Maximum bytes of an answer, or piece, held as one text: it takes several times its size in memory, and copying it
 * blocks other requests.
 */
export const MAX_TEXT = 16 * 1024 * 1024
