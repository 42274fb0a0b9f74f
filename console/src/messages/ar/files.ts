/** Texts of files, in Arabic. */

import type { files as english } from '../en/files.ts'
import { pluralIn } from '../plural.ts'
import type { Translated } from '../translated.ts'

const plural = pluralIn('ar')

export const files: Translated<typeof english> = {
  files: {
    title: 'الملفات',
    upload: 'رفع',
    uploadFor: (field) => `رفع ملف إلى ${field}`,
    drop: 'أفلت الملفات في أي مكان من الصفحة، أو اضغط «رفع».',
    dropHere: 'أفلت للرفع',
    none: 'لا توجد ملفات',
    noneFound: 'لا يوجد ملف يطابق التصفية.',
    find: 'البحث بالاسم',
    unused: 'غير المستخدمة فقط',
    unusedHint: 'ملفات لا يشير إليها أي عنصر.',
    more: 'عرض المزيد',
    count: (shown, count) =>
      plural(count, {
        zero: 'لا ملفات',
        one: 'ملف واحد',
        two: 'ملفان',
        few: `${shown} ملفات`,
        many: `${shown} ملفًا`,
        other: `${shown} ملف`,
      }),
    uploads: 'عمليات الرفع',
    progress: (name) => `رفع ${name}`,
    sentOf: (sent, total) => `${sent} من ${total}`,
    waiting: 'في الانتظار',
    goOn: 'أعد المحاولة',
    cancel: (name) => `إلغاء رفع ${name}`,
    fields: {
      id: 'المعرّف',
      fileName: 'اسم الملف',
      fileSize: 'الحجم',
      mediaType: 'نوع الوسائط',
      title: 'العنوان',
      description: 'الوصف',
      tags: 'الوسوم',
      createdAt: 'تاريخ الرفع',
      updatedAt: 'آخر تغيير',
    },
    content: 'المحتوى',
    download: 'تنزيل',
    replace: 'استبدال',
    replaced: 'تم الاستبدال.',
    replacedMeanwhile: 'استبدل شخص آخر هذا الملف بعد عرضه. ترى الآن محتواه الحالي: اختر ملفك مرة أخرى لاستبداله.',
    link: {
      open: 'إنشاء رابط',
      title: 'رابط إلى هذا الملف',
      text: 'كل من لديه الرابط يقرأ الملف دون تسجيل دخول. ولا يمكن إنهاؤه قبل انتهاء مدته إلا باستبدال الملف أو حذفه.',
      works: 'مدة عمله',
      lifetimes: { '5m': '5 دقائق', '15m': '15 دقيقة', '1h': 'ساعة' },
      make: 'أنشئ الرابط',
      once: (time) => `انسخه الآن: لا يظهر إلا هذه المرة. يعمل حتى ${time}.`,
    },
    deleted: {
      open: 'الملفات المحذوفة',
      title: 'الملفات المحذوفة',
      text: 'تحتفظ الخدمة بالملفات المحذوفة يومًا ما لم يضبط مشغّلها مدة أخرى. وحتى ذلك الحين تعود كما كانت.',
      ownOnly: 'تظهر الملفات التي حذفتَها منذ تحميل هذه الصفحة. وبقيتها في سجل التدقيق لمن يُسمح له بقراءته.',
      none: 'لم يُحذف أي ملف مؤخرًا.',
      name: 'الاسم',
      you: 'أنت',
      restore: 'استعادة',
      restoreOf: (name) => `استعادة ${name}`,
      restored: (name) => `استُعيد ${name}.`,
      gone: (name) => `زال محتوى ${name}، أو أن الملف موجود من قبل.`,
    },
    noPreview: 'لا توجد معاينة لهذا النوع.',
  },
}
