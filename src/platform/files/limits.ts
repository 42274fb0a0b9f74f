/** What kinds of stores allow of a file; a Worker knows it before it loads the store. */

/** Most bytes of a file in the system database: an expensive place for bytes, and in each of its backups. */
export const TABLE_LIMIT = 10 * 1024 ** 2
