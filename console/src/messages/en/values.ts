/** Texts of what a change of a field does to its values. */
export const values = {
  /** Between the type that a field has and the one that it gets. */
  becomes: '→',
  /** Between the name that something has and the one that it gets. */
  renamed: 'to',
  kept: 'Every value stays as it is.',
  written: 'Every value is kept, and is written as a text.',
  refused: 'A value that does not fit keeps the whole change from being made. No value is rounded or cut.',
  read: 'Each text becomes the value that the database reads in it: 007 becomes 7. A text that it cannot read keeps the whole change from being made.',
  zone: 'Times are taken to be UTC. A time that the new type does not reach keeps the whole change from being made.',
  anew: 'The field is made anew. Its values are lost.',
  lossy: 'Values would be rounded or cut, so this change is refused.',
  nulls: 'A row without a value keeps the whole change from being made.',
  relation: {
    columnsMade: (what: string) => `New in the database: ${what}.`,
    columnsUsed: (what: string) => `It uses ${what}, which stays as it is.`,
    columnsStay: (what: string) => `${what} stays, with its values.`,
    columnsGo: (what: string) => `${what} goes, with its values.`,
    columnChanged: (what: string) => `Changed in the database: ${what}.`,
    indexMade: (what: string) => `A new index: ${what}.`,
    keyMade: (what: string) => `A new foreign key: ${what}.`,
    keyAnew: (what: string) => `The foreign key is made anew, with what happens on deletion and changes: ${what}.`,
    keyGoes: (what: string) => `The foreign key goes: ${what}.`,
    noKey: () => 'There is no foreign key: no database enforces this relation.',
    modelOnly: () => 'Only the model changes; the database stays as it is.',
    tableMade: (what: string) => `A new table has its links: ${what}, with two foreign keys.`,
    tableUsed: (what: string) => `Its links are the rows of ${what}.`,
    tableStays: (what: string) => `${what} stays, with its rows.`,
    tableGoes: (what: string) => `${what} goes, with its rows.`,
  },
  obstacle: {
    'Value out of range': (field: string) => `Values of ${field} do not fit its new type`,
    'Null constraint failed': (field: string) => `Values of ${field} are missing`,
    'Unique constraint failed': (field: string) => `Values of ${field} occur more than once`,
    'Foreign key constraint failed': (field: string) => `Values of ${field} refer to rows that are not there`,
    'Rows are in the way': (field: string) => `Values of ${field} are in the way`,
  } as Readonly<Record<string, (field: string) => string>>,
  obstacleCount: (what: string, count: string) => `${what}: ${count}.`,
  obstacleHidden: (what: string) => `${what}. How many is not known, or not told to you.`,
  obstacleText: 'Nothing is changed. Change these values first, or leave this change out.',
}

export type ValuesTexts = typeof values
