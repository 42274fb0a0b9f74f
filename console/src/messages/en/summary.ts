/** Texts of the summary of a collection. */
import { pluralIn } from '../plural.ts'

const plural = pluralIn('en')

export const summary = {
  title: (of: string) => `Summary of ${of}`,
  settings: 'What is summarised',
  groupBy: 'Group by',
  addGroup: 'Group by a field',
  unit: 'Unit of time',
  whole: 'Exact value',
  units: {
    year: 'Year',
    quarter: 'Quarter',
    month: 'Month',
    week: 'Week',
    day: 'Day',
    hour: 'Hour',
    minute: 'Minute',
  },
  inUnit: (field: string, unit: string) => `${field} (${unit})`,
  utc: (unit: string) => `${unit}, UTC`,
  function: 'Function',
  functions: {
    count: 'Number',
    countDistinct: 'Number of different values',
    sum: 'Sum',
    avg: 'Average',
    min: 'Least',
    max: 'Greatest',
  },
  field: 'Of',
  rows: 'Rows',
  of: {
    count: (field: string) => `Values of ${field}`,
    countDistinct: (field: string) => `Different values of ${field}`,
    sum: (field: string) => `Sum of ${field}`,
    avg: (field: string) => `Average of ${field}`,
    min: (field: string) => `Least ${field}`,
    max: (field: string) => `Greatest ${field}`,
  },
  addMeasure: 'Add a calculation',
  remove: (what: string) => `Remove ${what}`,
  count: (shown: string, count: number) => plural(count, { one: `${shown} group`, other: `${shown} groups` }),
  tooMany: (shown: string) => `Only the first ${shown} groups are shown. Filter, or group by less.`,
}
