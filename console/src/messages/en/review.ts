/** Texts of the review of a dangerous change. */
import { pluralIn } from '../plural.ts'

const plural = pluralIn('en')

export const review = {
  review: {
    rows: 'Rows that it touches',
    hiddenCount: 'some rows (their number is not told to you, or not known)',
    atLeast: (rows: string) => `more than ${rows}`,
    fate: {
      deleted: (count: number) => plural(count, { one: 'is deleted', other: 'are deleted' }),
      reduced: (count: number) => plural(count, { one: 'loses data', other: 'lose data' }),
      converted: (count: number) => plural(count, { one: 'is converted', other: 'are converted' }),
      filled: (count: number) => plural(count, { one: 'gets a new value', other: 'get a new value' }),
    },
    breaks: 'What it breaks',
    broken: { policies: 'Policies:', views: 'Views:', tests: 'Access tests:' },
    hidden: 'What else it breaks is told to those who see people and their rights.',
    inTheWay: 'These policies name what would be deleted. Change or remove them first, then try again.',
    back: {
      data: 'This change loses no data, and can be undone later.',
      made: 'This change loses no data. It can be undone later: that deletes what it creates, with the values that were written there since.',
      model: 'You can take this change back later, but data that it deletes or converts does not come back as it was.',
      nothing: 'This change cannot be taken back as a whole.',
    },
    moved: 'The data model has changed since this was shown. This is the new review; look at it again.',
    type: (name: string) => `To go on, type ${name}`,
  },
}
