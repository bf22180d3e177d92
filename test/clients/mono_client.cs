// Calls every operation with the proxy that Mono's wsdl made, which speaks one version, and prints the numbers: client.exe URL VERSION CALLS.
// Each line of CALLS is an operation and the values of its members, with bars between them.
using System;
using System.Globalization;
using System.Linq;
using System.Reflection;

static class Client {
    static float Number(string text) { return float.Parse(text, CultureInfo.InvariantCulture); }

    static object Parse(Type type, string text) {
        if (type == typeof(string)) return text;
        if (type == typeof(float)) return Number(text);
        if (type == typeof(int)) return int.Parse(text);
        if (type.IsEnum) return Enum.Parse(type, text);
        var item = type.GetElementType();
        var rows = text.Split(';').Select(row => row.Split(',')).ToArray();
        var array = Array.CreateInstance(item, rows.Length);
        for (int i = 0; i < rows.Length; i++) {
            var record = Activator.CreateInstance(item);
            for (int c = 0; c < 3; c++) item.GetProperty("xyz".Substring(c, 1)).SetValue(record, Number(rows[i][c]));
            array.SetValue(record, i);
        }
        return array;
    }

    static string Text(object number) { return ((float) number).ToString("R", CultureInfo.InvariantCulture); }

    static string Record(object record) {
        var numbers = record is float ? new[] { Text(record) } : record.GetType().GetProperties().Select(p => Text(p.GetValue(record)));
        return "[" + string.Join(",", numbers) + "]";
    }

    static void Main(string[] words) {
        var service = new TurbulenceService { Url = words[0] };
        var answers = words[2].Split('\n').Select(line => line.Split('|')).Select(call => {
            var method = typeof(TurbulenceService).GetMethod(call[0]);
            var values = method.GetParameters().Select((p, i) => Parse(p.ParameterType, call[i + 1])).ToArray();
            var records = ((Array) method.Invoke(service, values)).Cast<object>().Select(Record);
            return "\"" + call[0] + "\":[" + string.Join(",", records) + "]";
        });
        Console.WriteLine("{" + string.Join(",", answers) + "}");
    }
}
