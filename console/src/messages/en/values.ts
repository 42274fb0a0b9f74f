/** Texts of what a change of a field does to its values. */
export const values = {
  kept: 'Every value stays as it is.',
  written: 'Every value is kept, and is written as a text.',
  refused: 'A value that does not fit keeps the whole change from being made. No value is rounded or cut.',
  read: 'Each text becomes the value that the database reads in it: 007 becomes 7. A text that it cannot read keeps the whole change from being made.',
  zone: 'Times are taken to be UTC. A time that the new type does not reach keeps the whole change from being made.',
  anew: 'The field is made anew. Its values are lost.',
  lossy: 'Values would be rounded or cut, so this change is refused.',
  nulls: 'A row without a value keeps the whole change from being made.',
}

export type ValuesTexts = typeof values
