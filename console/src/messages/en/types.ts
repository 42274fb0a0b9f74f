/** What people call the types of fields; their technical names stand beside them where a developer needs them. */
export const types = {
  names: {
    string: 'Text',
    int8: 'Whole number',
    int16: 'Whole number',
    int32: 'Whole number',
    int64: 'Whole number',
    uint8: 'Whole number from 0',
    uint16: 'Whole number from 0',
    uint32: 'Whole number from 0',
    uint64: 'Whole number from 0',
    decimal: 'Decimal number, exact',
    float32: 'Number',
    float64: 'Number',
    boolean: 'Yes or no',
    date: 'Date',
    time: 'Time',
    dateTime: 'Date and time',
    dateTimeWithTimezone: 'Date, time and zone',
    uuid: 'Random id (UUID)',
    json: 'JSON',
    bytes: 'Bytes',
    geometry: 'Geometry',
  } as Readonly<Record<string, string>>,
  list: (of: string) => `List: ${of}`,
}

export type TypeTexts = typeof types
