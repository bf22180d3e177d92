// Calls every operation through the stubs that wsimport made and prints the numbers: JaxwsClient URL VERSION CALLS.
// Each line of CALLS is an operation and the values of its members, with bars between them.
import client.*;
import java.lang.reflect.*;
import java.net.URL;
import java.util.*;
import java.util.stream.*;
import javax.xml.bind.annotation.XmlType;

public class JaxwsClient {
    /** The one list that an array type holds. */
    @SuppressWarnings("unchecked")
    static List<Object> list(Object array) throws ReflectiveOperationException {
        return (List<Object>) array.getClass().getMethod("get" + array.getClass().getSimpleName().substring(7)).invoke(array);
    }

    static Object parse(Class<?> type, String text) throws ReflectiveOperationException {
        if (type == String.class) return text;
        if (type == float.class) return Float.valueOf(text);
        if (type == int.class) return Integer.valueOf(text);
        if (type.isEnum()) return type.getMethod("fromValue", String.class).invoke(null, text);
        Object array = type.getConstructor().newInstance();
        Class<?> item = Class.forName(type.getName().replace("ArrayOf", ""));
        for (String row : text.split(";")) {
            String[] numbers = row.split(",");
            Object record = item.getConstructor().newInstance();
            for (int c = 0; c < 3; c++)
                item.getMethod("set" + "XYZ".charAt(c), float.class).invoke(record, Float.parseFloat(numbers[c]));
            list(array).add(record);
        }
        return array;
    }

    static List<Object> numbers(Object record) throws ReflectiveOperationException {
        if (record instanceof Float) return List.of(record);
        List<Object> values = new ArrayList<>();
        for (String name : record.getClass().getAnnotation(XmlType.class).propOrder())
            values.add(record.getClass().getMethod("get" + name.substring(0, 1).toUpperCase() + name.substring(1)).invoke(record));
        return values;
    }

    public static void main(String[] words) throws Exception {
        TurbulenceService service = new TurbulenceService(new URL(words[0] + "?wsdl"));
        Object port = words[1].equals("1.1") ? service.getTurbulenceServiceSoap() : service.getTurbulenceServiceSoap12();
        Map<String, Method> methods = Stream.of(TurbulenceServiceSoap.class.getMethods())
            .collect(Collectors.toMap(method -> method.getName().toLowerCase(), method -> method));
        StringJoiner answers = new StringJoiner(",", "{", "}");
        for (String line : words[2].split("\n")) {
            String[] call = line.split("\\|");
            Method method = methods.get(call[0].toLowerCase());
            Class<?>[] types = method.getParameterTypes();
            Object[] values = new Object[types.length];
            for (int i = 0; i < types.length; i++) values[i] = parse(types[i], call[i + 1]);
            List<Object> records = new ArrayList<>();
            for (Object record : list(method.invoke(port, values))) records.add(numbers(record));
            answers.add('"' + call[0] + "\":" + records);
        }
        System.out.println(answers);
    }
}
