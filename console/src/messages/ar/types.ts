/** What people call the types of fields, in Arabic. */
import type { TypeTexts } from '../en/types.ts'
import type { Translated } from '../translated.ts'

export const types: Translated<TypeTexts> = {
  names: {
    string: 'نص',
    int8: 'عدد صحيح',
    int16: 'عدد صحيح',
    int32: 'عدد صحيح',
    int64: 'عدد صحيح',
    uint8: 'عدد صحيح من 0',
    uint16: 'عدد صحيح من 0',
    uint32: 'عدد صحيح من 0',
    uint64: 'عدد صحيح من 0',
    decimal: 'عدد عشري دقيق',
    float32: 'عدد',
    float64: 'عدد',
    boolean: 'نعم أو لا',
    date: 'تاريخ',
    time: 'وقت',
    dateTime: 'تاريخ ووقت',
    dateTimeWithTimezone: 'تاريخ ووقت ومنطقة زمنية',
    uuid: 'معرّف عشوائي (UUID)',
    json: 'JSON',
    bytes: 'بايتات',
    geometry: 'شكل هندسي',
  },
  list: (of) => `قائمة: ${of}`,
}
